"""Non-ASCII query text in the encoding of its document (WHATWG URL 4.4 query state, Encoding 5 and 6).

A link ``?q=ü`` on a windows-1252 page asks for ``?q=%FC``; asking for the UTF-8 form gets another page or
none. Characters the encoding lacks become numeric references, percent-encoded, as browsers send them.
"""

from __future__ import annotations

import codecs
from functools import lru_cache

from .encoding.labels import encoding_for_label

__all__ = ["encode_query", "needs_document_encoding"]

#: Encodings whose output encoding is UTF-8 (Encoding 4.3, "get an output encoding"), and UTF-8 itself.
_UTF8_OUTPUT = frozenset(("utf-8", "utf-16le", "utf-16be", "replacement"))

#: Python codecs for the WHATWG encodings whose name is no codec, or a codec with a smaller table.
_CODEC = {
    "shift_jis": "cp932",
    "gbk": "gb18030",
    "euc-kr": "cp949",
    "big5": "cp950",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso-8859-8",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
}

#: The Japanese encoders write the minus sign as the full-width one (Encoding 12.1.2, 12.2.2, 12.3.2) ...
_JAPANESE = frozenset(("shift_jis", "euc-jp", "iso-2022-jp"))
_MINUS = {0x2212: 0xFF0D}
#: ... and these two also give yen and overline their ASCII places.
_YEN_OVERLINE = {0x2212: 0xFF0D, 0xA5: 0x5C, 0x203E: 0x7E}

#: Left out of GBK and gb18030 by the Encoding standard (10.2.2): decoding maps the bytes elsewhere.
_GB_UNENCODABLE = "\ue5e5"

#: Bytes of the special-query percent-encode set (URL 1.3), beside everything outside ASCII.
_ESCAPED = frozenset((*range(0x21), 0x22, 0x23, 0x27, 0x3C, 0x3E, *range(0x7F, 0x100)))
_BYTE_TEXT = tuple(f"%{b:02X}" if b in _ESCAPED else chr(b) for b in range(256))

_ERRORS = "nightcrawl.numeric-reference"


def _numeric_reference(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(c)}%3B" for c in lacking), error.end


codecs.register_error(_ERRORS, _numeric_reference)


@lru_cache(maxsize=256)
def _output_encoding(label: str) -> str:
    """The WHATWG name of the encoding that queries of such a page are written in."""
    name = encoding_for_label(label) or "utf-8"
    return "utf-8" if name in _UTF8_OUTPUT or name == "x-user-defined" else name


def needs_document_encoding(encoding: str) -> bool:
    """Whether queries of a page in this encoding differ from the UTF-8 form that the URL parser writes."""
    return _output_encoding(encoding) != "utf-8"


def encode_query(text: str, encoding: str) -> str:
    """`text` (a query without its ``?``) percent-encoded in `encoding`, any label of the standard.

    A label nobody knows is treated as UTF-8. Lone surrogates are written as U+FFFD.
    """
    name = _output_encoding(encoding)
    if any("\ud800" <= c <= "\udfff" for c in text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if name == "utf-8":
        return _escape(text.encode())
    if name in _JAPANESE:
        text = text.translate(_MINUS if name == "iso-2022-jp" else _YEN_OVERLINE)
    codec = _CODEC.get(name, name)
    if codec == "gb18030":
        return "".join(_gb_runs(text, four_bytes=name == "gb18030"))
    return _escape(text.encode(codec, _ERRORS))


def _gb_runs(text: str, *, four_bytes: bool) -> list[str]:
    out = []
    for char in text:
        if char == "€" and not four_bytes:
            out.append("%80")
            continue
        raw = char.encode("gb18030", _ERRORS)
        lacking = char in _GB_UNENCODABLE or (len(raw) == 4 and not four_bytes)
        out.append(f"%26%23{ord(char)}%3B" if lacking else _escape(raw))
    return out


def _escape(raw: bytes) -> str:
    return "".join([_BYTE_TEXT[b] for b in raw])
