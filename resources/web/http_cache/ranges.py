"""Byte ranges: which bytes of a stored body answer a Range request (RFC 9110, 14; RFC 9111, 3.3).

A stored part answers only what lies inside it and is never served as the whole.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..http_fields import first_value
from .exchange import Stored
from .freshness import delta_seconds

__all__ = ["ByteWindow", "byte_window", "is_partial", "parse_content_range"]

_RANGE = re.compile(r"bytes=[ \t]*(?:([0-9]{1,18})-([0-9]{1,18})?|-([0-9]{1,18}))[ \t]*", re.IGNORECASE)
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/(?:([0-9]{1,18})|\*)", re.IGNORECASE)


class ByteWindow(NamedTuple):
    """A slice of the stored body: `body[start:stop]`, a negative start counts from the end."""

    start: int
    stop: int | None


def is_partial(stored: Stored) -> bool:
    """Whether only a part of the representation is stored."""
    return stored.status == 206


def parse_content_range(value: str | None) -> tuple[int, int, int | None] | None:
    """(first, last, complete length or None) of a single-part byte Content-Range, or None."""
    match = _CONTENT_RANGE.fullmatch(value.strip()) if value else None
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    total = int(match[3]) if match[3] else None
    return None if last < first or (total is not None and last >= total) else (first, last, total)


def byte_window(stored: Stored, wanted: str) -> ByteWindow | None:
    """Where in the stored body the bytes of the Range value `wanted` are; None: not there, or not one range."""
    if is_partial(stored):
        # The very same question has the very same answer, whatever the form of the range.
        if first_value(stored.request_headers, "range") == wanted.strip():
            return ByteWindow(0, None)
        part = parse_content_range(first_value(stored.headers, "content-range"))
        if part is None:
            return None
        begin, end, total = part
    else:
        length = delta_seconds(first_value(stored.headers, "content-length"))
        begin, end, total = 0, 2**63 if length is None else length - 1, length
    match = _RANGE.fullmatch(wanted.strip())
    if match is None:
        return None
    reaches_the_end = not is_partial(stored) or (total is not None and end == total - 1)
    if match[3]:
        count = int(match[3])
        inside = count > 0 and (not is_partial(stored) or count <= end - begin + 1)
        return ByteWindow(-count, None) if reaches_the_end and inside else None
    first = int(match[1])
    if not begin <= first <= end:
        return None
    if match[2] is None:
        return ByteWindow(first - begin, None) if reaches_the_end else None
    last = int(match[2])
    if last < first or (last > end and not reaches_the_end):
        return None
    return ByteWindow(first - begin, last - begin + 1)
