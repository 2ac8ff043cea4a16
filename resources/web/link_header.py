"""The Link header field (RFC 8288): links of a response that stand outside its body."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .urls import join

__all__ = ["HeaderLink", "parse_link_header", "target_of"]

_TARGET = re.compile(r"[\s,]*<([^>]*)>")
_PARAMETER = re.compile(
    r"""\s*;\s*(?:([^\s;,="]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;,]*)))?)?""", re.DOTALL
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """One link. `url` is absolute; `rels` are lower case; `anchor` is the context if it is not the response."""

    url: str
    rels: frozenset[str]
    anchor: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)


def parse_link_header(values: Iterable[str], page_url: str) -> list[HeaderLink]:
    """The links of all field lines, resolved against the URL of the response (RFC 8288 B.2).

    Base elements do not count. Of a repeated `rel` only the first holds (3.3). A field line is read up to the
    first text that is no link; links whose target is no http(s) URL are left out.
    """
    return [link for value in values for link in _links(value, page_url)]


def _links(value: str, page_url: str) -> list[HeaderLink]:
    found = []
    at = 0
    while (target := _TARGET.match(value, at)) is not None:
        at = target.end()
        parameters: dict[str, str] = {}
        while (parameter := _PARAMETER.match(value, at)) is not None:
            at = parameter.end()
            name, quoted, token = parameter.groups()
            if name:
                text = _ESCAPED.sub(r"\1", quoted) if quoted is not None else token or ""
                parameters.setdefault(name.lower(), text)
        url = join(page_url, target.group(1))
        if url is not None:
            anchor = parameters.get("anchor")
            found.append(
                HeaderLink(
                    url,
                    frozenset(parameters.get("rel", "").lower().split()),
                    None if anchor is None else join(page_url, anchor) or anchor,
                    parameters,
                )
            )
        comma = value.find(",", at)
        if comma < 0:
            break
        at = comma
    return found


def target_of(links: Iterable[HeaderLink], rel: str, page_url: str) -> str | None:
    """The target of the first link of this relation whose context is the response itself."""
    for link in links:
        if rel in link.rels and link.anchor in (None, page_url):
            return link.url
    return None
