"""Bytes of a sitemap or feed to text, incrementally, and never a byte too strict.

Order (XML 1.0 appendix F, RFC 7303 §3): byte order mark; the shape of UTF-16 without one; the charset of the
Content-Type; the XML declaration; UTF-8. Two corrections for what is really served: bytes that are valid UTF-8
are UTF-8 whatever 8-bit charset was declared, and a byte that is not UTF-8 is read as windows-1252, so that one
bad byte costs one character and not the file.
"""

from __future__ import annotations

import codecs
import re

__all__ = ["Decoder"]

_DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z][\w.:-]*)", re.ASCII)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z][\w.:-]*)", re.ASCII | re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Only charsets of the web are taken from a label: Python also knows `zlib`, `rot13` and `utf-7`.
_WEB_LABEL = re.compile(
    r"(iso|windows|cp|koi8|gb|big5|euc|shift|sjis|x-sjis|mac|ibm866|tis|latin|l\d|us-ascii|ascii|ks_c|utf-?8)",
    re.I,
)
#: WHATWG Encoding: labels that mean a superset of what they say.
_SUPERSET = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "tis-620": "cp874",
}
#: Bytes looked at before the encoding is decided, and after the first byte that is not ASCII.
_WINDOW = 4_096


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    text = "".join(
        chr(b) if b in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else bytes([b]).decode("cp1252") for b in wrong
    )
    return text, error.end


_LENIENT = "nightcrawl.windows-1252"
codecs.register_error(_LENIENT, _as_windows_1252)


class Decoder:
    """Decodes one document. `encoding` is what it was read as, once decided."""

    def __init__(self, content_type: str | None) -> None:
        match = _CHARSET.search(content_type or "")
        self._header = _codec(match.group(1)) if match else None
        self.encoding: str | None = None
        self._held = b""
        #: An 8-bit charset was declared; it is believed only once bytes are seen that are not UTF-8.
        self._claimed: str | None = None
        self._decoder: codecs.IncrementalDecoder | None = None

    def feed(self, data: bytes, *, final: bool = False) -> str:
        if self._decoder is not None:
            return self._decoder.decode(data, final)
        self._held += data
        if self.encoding is None:
            if len(self._held) < _WINDOW and not final:
                return ""
            decoder = self._choose()
            if decoder is not None:
                held, self._held = self._held, b""
                return decoder.decode(held, final)
        return self._judge_claim(final=final)

    def _choose(self) -> codecs.IncrementalDecoder | None:
        head = self._held
        for mark, encoding in _MARKS:
            if head.startswith(mark):
                self._held = head[len(mark) :]
                return self._start(encoding)
        if head[:4:2] == b"\0\0" and head[1:2] != b"\0":
            return self._start("utf-16-be")
        if head[1:4:2] == b"\0\0" and head[:1] != b"\0":
            return self._start("utf-16-le")
        match = _DECLARED.match(head)
        declared = _codec(match.group(1).decode("ascii")) if match else None
        claims = [name for name in (self._header, declared) if name not in (None, "utf-8")]
        if not claims:
            return self._start("utf-8")
        self._claimed = self.encoding = claims[0]
        return None

    def _judge_claim(self, *, final: bool) -> str:
        held = self._held
        if held.isascii() and self._claimed not in ("iso2022_jp",):
            self._held = b""
            return held.decode("ascii")
        first = next((at for at, byte in enumerate(held) if byte > 127), 0)
        if len(held) - first < _WINDOW and not final:
            return ""
        try:
            held.decode("utf-8")
            valid = True
        except UnicodeDecodeError as error:
            valid = error.end == len(held) and "unexpected end" in error.reason and not final
        decoder = self._start("utf-8" if valid else self._claimed or "utf-8")
        self._held = b""
        return decoder.decode(held, final)

    def _start(self, encoding: str) -> codecs.IncrementalDecoder:
        self.encoding = encoding
        errors = _LENIENT if encoding in ("utf-8", "cp1252") else "replace"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        return self._decoder


def _codec(label: str) -> str | None:
    """Python's codec for a label of the web, None where there is none."""
    if not _WEB_LABEL.match(label):
        return None
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    return _SUPERSET.get(name, name)
