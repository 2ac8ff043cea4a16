"""Redirects that pages declare by themselves: `<meta http-equiv=refresh>` and the Refresh header field.

HTML 4.2.5.3, "shared declarative refresh steps".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .urls import in_document_encoding, join

__all__ = ["MetaRefresh", "read_refresh"]

_DELAY = re.compile(r"[\t\n\f\r ]*([0-9]+)?([0-9.]*)")
_AFTER_DELAY = re.compile(r"[\t\n\f\r ]*[;,]?[\t\n\f\r ]*")
_URL_KEY = re.compile(r"url[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MetaRefresh:
    """After `delay_s` seconds the page becomes `url`; its own URL means a reload, which is no redirect."""

    delay_s: int
    url: str


def read_refresh(content: str, base_url: str, page_url: str, encoding: str = "utf-8") -> MetaRefresh | None:
    """The meaning of a refresh value; None when the standard ignores it or its target is no http(s) URL."""
    delay = _DELAY.match(content)
    if delay is None or not (delay.group(1) or delay.group(2)):
        return None
    # Longer delays than a century mean never; int() of a million digits would take seconds.
    seconds = int((delay.group(1) or "0")[:18])
    at = delay.end()
    if at == len(content):
        return MetaRefresh(seconds, page_url)
    if content[at] not in "\t\n\f\r ;,":
        return None
    after = _AFTER_DELAY.match(content, at)
    target = content[after.end() if after else at :]
    if not target:
        return MetaRefresh(seconds, page_url)
    key = _URL_KEY.match(target)
    if key:
        target = target[key.end() :]
    if target[:1] in ("'", '"'):
        target = target[1:].partition(target[0])[0]
    url = join(base_url, in_document_encoding(target, encoding))
    return MetaRefresh(seconds, url) if url is not None else None
