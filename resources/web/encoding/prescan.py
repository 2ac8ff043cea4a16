"""Encoding declarations inside the bytes: BOM, HTML prescan, XML declaration, CSS @charset.

The prescan is that of the HTML standard (13.2.3.2, "prescan a byte stream to determine its encoding"): a
little tag reader over the first 1,024 bytes which knows comments, attributes and nothing else: a `<meta>`
inside a script or a title counts, one inside a comment or an attribute value does not.

Guarantees: never raises; looks at no byte past `limit`; linear in it. Cost: about 1 µs when there is no
`<meta` at all, otherwise some 20 µs for a common
page head, 0.3 µs for one that begins like an earlier one.
"""

from __future__ import annotations

import re

from .labels import encoding_for_label

__all__ = ["PRESCAN_BYTES", "bom", "css_charset", "html_prescan", "meta_content_charset", "xml_declaration"]

#: "the first 1024 bytes": what authors may rely on (HTML 4.2.5.4) and what browsers look at.
PRESCAN_BYTES = 1024

_SPACE = b"\t\n\x0c\r "
_META = re.compile(rb"<meta[\t\n\x0c\r /]", re.IGNORECASE)
_NAME_END = re.compile(rb"[\t\n\x0c\r />=]")
_UNQUOTED_END = re.compile(rb"[\t\n\x0c\r >]")
_TAG_NAME_END = re.compile(rb"[\t\n\x0c\r >]")
_NOT_SPACE = re.compile(rb"[^\t\n\x0c\r ]")
_NOT_SPACE_OR_SLASH = re.compile(rb"[^\t\n\x0c\r /]")
_TAG = re.compile(rb"</?[A-Za-z]")
_CHARSET_IN_CONTENT = re.compile(r"charset[\t\n\x0c\r ]*=[\t\n\x0c\r ]*", re.IGNORECASE | re.ASCII)
_CONTENT_VALUE_END = re.compile(r"[\t\n\x0c\r ;]")
# White space in an XML declaration is any byte up to 0x20, wider than elsewhere in the standard.
_XML_ENCODING_VALUE = re.compile(rb"[\0-\x20]*=[\0-\x20]*([\"'])([^\0-\x20]*?)\1")
_CSS_CHARSET = re.compile(rb'@charset "([\x00-\x21\x23-\x7f]{0,1000})";')

#: Pages of one site begin alike: the beginnings up to a declaration that were met last, by their first bytes.
_HEAD_START, _KNOWN_HEADS = 64, 256
_known: dict[bytes, tuple[bytes, str]] = {}


class _End(Exception):
    """The bytes ran out inside a tag: the prescan gives up (the standard's "abort")."""


def bom(data: bytes) -> tuple[str, int] | None:
    """(encoding, length of the mark) if `data` starts with a byte order mark of UTF-8 or UTF-16.

    UTF-32 does not exist on the web: FF FE 00 00 is UTF-16LE, 00 00 FE FF is nothing (Encoding, 6.1).
    """
    if data.startswith(b"\xef\xbb\xbf"):
        return "utf-8", 3
    if data.startswith(b"\xff\xfe"):
        return "utf-16le", 2
    if data.startswith(b"\xfe\xff"):
        return "utf-16be", 2
    return None


def html_prescan(data: bytes, limit: int = PRESCAN_BYTES) -> tuple[str, str] | None:
    """(encoding, how) that an HTML page declares in its first `limit` bytes; how is "meta" or "xml".

    In the standard's order: the first bytes of a UTF-16 XML declaration, then the first `<meta>` that
    declares a known encoding, then an XML declaration. A declared UTF-16 means UTF-8 (the declaration was
    readable as ASCII), a declared x-user-defined means windows-1252.
    """
    if data.startswith(b"<\0?\0x\0"):
        return "utf-16le", "xml"
    if data.startswith(b"\0<\0?\0x"):
        return "utf-16be", "xml"
    known = _known.get(data[:_HEAD_START])
    if known is not None and len(known[0]) <= limit and data.startswith(known[0]):
        return known[1], "meta"
    if _META.search(data, 0, limit):
        encoding, at = _first_meta(data[:limit])
        if encoding is not None:
            if len(_known) >= _KNOWN_HEADS:
                _known.clear()
            _known[data[:_HEAD_START]] = data[:at], encoding
            return encoding, "meta"
    encoding = xml_declaration(data, limit)
    return None if encoding is None else (encoding, "xml")


def xml_declaration(data: bytes, limit: int = PRESCAN_BYTES) -> str | None:
    """The encoding of `<?xml … encoding="…"?>` at the very start ("get an XML encoding"), or None."""
    if not data.startswith(b"<?xml"):
        return None
    end = data.find(b">", 0, limit)
    at = data.find(b"encoding", 0, end if end > 0 else 0)
    if at < 0:
        return None
    match = _XML_ENCODING_VALUE.match(data, at + len(b"encoding"), end)
    return None if match is None else _readable_as_ascii(encoding_for_label(match[2].decode("latin-1")))


def css_charset(data: bytes) -> str | None:
    """The encoding of `@charset "…";` as the exact first bytes of a style sheet (CSS Syntax, 3.2)."""
    match = _CSS_CHARSET.match(data)
    return None if match is None else _readable_as_ascii(encoding_for_label(match[1].decode("ascii")))


def meta_content_charset(content: str) -> str | None:
    """The encoding in the `content` of a `<meta http-equiv=content-type>`, or None (HTML 2.6.5)."""
    match = _CHARSET_IN_CONTENT.search(content)
    if match is None:
        return None
    rest = content[match.end() :]
    if rest[:1] in ('"', "'"):
        end = rest.find(rest[0], 1)
        return None if end < 0 else encoding_for_label(rest[1:end])
    return encoding_for_label(_CONTENT_VALUE_END.split(rest, maxsplit=1)[0])


def _readable_as_ascii(encoding: str | None) -> str | None:
    return "utf-8" if encoding in ("utf-16le", "utf-16be") else encoding


def _first_meta(data: bytes) -> tuple[str | None, int]:
    """The encoding of the first `<meta>` that declares one, and the end of that tag: nothing behind it counts."""
    at = 0
    try:
        while (at := data.find(b"<", at)) >= 0:
            if data.startswith(b"<!--", at):
                # The dashes may be shared: "<!-->" is a whole comment.
                at = _index(data, b"-->", at + 2) + 2
            elif _META.match(data, at):
                encoding, at = _meta(data, at + 5)
                if encoding is not None:
                    return encoding, at + 1
            elif _TAG.match(data, at):
                at = _search(_TAG_NAME_END, data, at)
                while True:
                    attribute, at = _attribute(data, at)
                    if attribute is None:
                        break
            elif data[at + 1 : at + 2] in (b"!", b"/", b"?"):
                at = _index(data, b">", at)
            at += 1
    except _End:
        return None, at
    return None, at


def _meta(data: bytes, at: int) -> tuple[str | None, int]:
    """The encoding that the `<meta>` whose attributes start at `at` declares; where its tag ends."""
    seen: set[bytes] = set()
    got_pragma = False
    need_pragma: bool | None = None
    declared = False
    encoding: str | None = None
    while True:
        attribute, at = _attribute(data, at)
        if attribute is None:
            break
        name, value = attribute
        if name in seen:
            continue
        seen.add(name)
        if name == b"http-equiv":
            got_pragma = got_pragma or value == b"content-type"
        elif name == b"content" and not declared:
            found = meta_content_charset(value.decode("latin-1"))
            if found is not None:
                encoding, declared, need_pragma = found, True, True
        elif name == b"charset":
            encoding, declared, need_pragma = encoding_for_label(value.decode("latin-1")), True, False
    if need_pragma is None or (need_pragma and not got_pragma) or encoding is None:
        return None, at
    if encoding == "x-user-defined":
        return "windows-1252", at
    return _readable_as_ascii(encoding), at


def _attribute(data: bytes, at: int) -> tuple[tuple[bytes, bytes] | None, int]:
    """The next attribute, name and value in ASCII lower case, and where it ends ("get an attribute")."""
    at = _search(_NOT_SPACE_OR_SLASH, data, at)
    if data[at] == 0x3E:  # ">"
        return None, at
    # A name may start with "=": only a later "=" ends it.
    end = _search(_NAME_END, data, at + 1)
    name = data[at:end].lower()
    at = end
    if data[at] in _SPACE:
        at = _search(_NOT_SPACE, data, at)
    if data[at] != 0x3D:  # "=": none, so the value is empty
        return (name, b""), at
    at = _search(_NOT_SPACE, data, at + 1)
    first = data[at : at + 1]
    if first in (b'"', b"'"):
        end = _index(data, first, at + 1)
        return (name, data[at + 1 : end].lower()), end + 1
    if first == b">":
        return (name, b""), at
    end = _search(_UNQUOTED_END, data, at + 1)
    return (name, data[at:end].lower()), end


def _index(data: bytes, wanted: bytes, at: int) -> int:
    found = data.find(wanted, at)
    if found < 0:
        raise _End
    return found


def _search(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.search(data, at)
    if match is None:
        raise _End
    return match.start()
