"""Which encoding a body is in, and how that was decided.

The order (HTML standard 13.2.3, XML 1.0 appendix F, RFC 8259):
 1. a byte order mark;
 2. JSON is UTF-8, whatever the header says;
 3. the charset of Content-Type, if the label is known;
 4. what the first 1,024 bytes declare: `<meta>` and XML declaration in HTML, the XML declaration in XML,
    `@charset` in CSS;
 5. XML without a declaration is UTF-8, if it is;
 6. nothing declared: ASCII needs no answer (the standard's default), bytes that are valid UTF-8 are UTF-8,
    a `<meta>` further down counts (browsers reload for it), else detection, else the default.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..http_fields import charset, media_type
from .detection import detect
from .labels import encoding_for_label
from .prescan import bom, css_charset, html_prescan, xml_declaration

__all__ = ["DEFAULT_ENCODING", "Decision", "Source", "declared", "sniff"]

Source = Literal[
    "bom", "json", "http", "meta", "xml", "css", "utf8-valid", "late-meta", "detected", "default"
]

#: What browsers assume for undeclared pages in most locales; it also maps every byte to a character.
DEFAULT_ENCODING = "windows-1252"

#: How far a late `<meta>` is looked for: heads with inlined styles reach some tens of kilobytes.
LATE_META_BYTES = 65536

#: Longer Content-Type values are read each time instead of being remembered.
_MEMO_CHARS = 512


@dataclass(frozen=True, slots=True)
class Decision:
    """The encoding of a body (a WHATWG name in lower case) and what decided it; stored with each page."""

    encoding: str
    source: Source


@dataclass(frozen=True, slots=True)
class _Header:
    """What a Content-Type says about encoding: the kind of prescan it calls for, and the decision if any."""

    kind: Literal["html", "xml", "json", "css", "text"]
    decision: Decision | None


_DECISIONS: dict[tuple[str, Source], Decision] = {}


def _decision(encoding: str, source: Source) -> Decision:
    """One shared object per pair: there are a few hundred, and pages are many."""
    known = _DECISIONS.get((encoding, source))
    if known is None:
        known = _DECISIONS[encoding, source] = Decision(encoding, source)
    return known


def _read_header(content_type: str) -> _Header:
    kind = media_type(content_type)
    if kind.is_json:
        return _Header("json", _decision("utf-8", "json"))
    # The grammar first; then browsers' leniency (a quote that never closes), which saves some pages.
    label = charset(content_type) or kind.parameters.get("charset", "")
    encoding = encoding_for_label(label)
    decision = None if encoding is None else _decision(encoding, "http")
    if kind.is_xml:
        return _Header("xml", decision)
    if kind.essence == "text/css":
        return _Header("css", decision)
    # Unknown and wrong types are scanned as HTML: servers mislabel pages, and only text/* and scripts that
    # say so are something else.
    is_other_text = kind.essence.startswith("text/") and kind.essence != "text/html"
    is_script = kind.essence.endswith(("javascript", "ecmascript"))
    return _Header("text" if is_other_text or is_script else "html", decision)


_memoized_header = lru_cache(1024)(_read_header)
_NO_HEADER = _Header("html", None)


def _header(content_type: str | None) -> _Header:
    if not content_type:
        return _NO_HEADER
    return _memoized_header(content_type) if len(content_type) <= _MEMO_CHARS else _read_header(content_type)


def declared(body: bytes, content_type: str | None = None) -> Decision | None:
    """Steps 1 to 4: what mark, header or content declare, or None. Never raises."""
    mark = bom(body)
    if mark is not None:
        return _decision(mark[0], "bom")
    header = _header(content_type)
    if header.decision is not None:
        return header.decision
    if header.kind == "html":
        found = html_prescan(body)
        return None if found is None else _decision(found[0], "xml" if found[1] == "xml" else "meta")
    encoding: str | None = None
    if header.kind == "xml":
        if body.startswith((b"<\0?\0", b"\0<\0?")):
            encoding = "utf-16le" if body[0] else "utf-16be"
        else:
            encoding = xml_declaration(body)
        return None if encoding is None else _decision(encoding, "xml")
    if header.kind == "css":
        encoding = css_charset(body)
        return None if encoding is None else _decision(encoding, "css")
    return None


def sniff(body: bytes, content_type: str | None = None, *, default: str = DEFAULT_ENCODING) -> Decision:
    """The encoding of `body`, served as `content_type` (the header's value, None when absent).

    `default` is the WHATWG name for when nothing tells. Never raises; the time for a guess is bounded
    (`detection`), all else is linear.
    """
    decision = declared(body, content_type)
    return decision if decision is not None else guess(body, content_type, default=default)


def guess(body: bytes, content_type: str | None = None, *, default: str = DEFAULT_ENCODING) -> Decision:
    """Steps 5 and 6, for a body that declares nothing."""
    kind = _header(content_type).kind
    if kind == "xml":
        default = "utf-8"
    if body.isascii():
        return _decision(default, "default")
    if _is_utf8(body):
        return _decision("utf-8", "utf8-valid")
    if kind == "html":
        late = html_prescan(body, LATE_META_BYTES)
        # A page that says UTF-8 down there and is not is no better known than before.
        if late is not None and late[0] != "utf-8":
            return _decision(late[0], "late-meta")
    found = detect(body)
    return _decision(default, "default") if found is None else _decision(found, "detected")


def _is_utf8(body: bytes) -> bool:
    """Whether `body` is UTF-8; a last character cut by the end counts if whole ones came before it."""
    try:
        text, used = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        return False
    return used == len(body) or not text.isascii()
