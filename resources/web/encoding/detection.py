"""The guess for bytes that declare nothing and are no UTF-8: charset-normalizer on a bounded sample.

Cost: the sample is at most SAMPLE_BYTES, so a guess takes some tens of milliseconds whatever the page size.
It is only made for non-ASCII bodies without any declaration, a few per mille of the web.
"""

from __future__ import annotations

import re

__all__ = ["SAMPLE_BYTES", "detect"]

#: Enough text for letter frequencies to speak (about 1,500 letters), small enough to stay in the milliseconds.
SAMPLE_BYTES = 3072

#: Text is looked for in this much of the body; a page with markup only up to here is hopeless anyway.
_SEARCHED_BYTES = 65536

# Candidates: what legacy pages were really written in. Fewer candidates also mean fewer confusions between
# alphabets that share most bytes (iso-8859-1 and its neighbours).
_CODECS = {
    "gb18030": "gbk",
    "big5": "big5",
    "euc_jp": "euc-jp",
    "cp932": "shift_jis",
    "iso2022_jp": "iso-2022-jp",
    "cp949": "euc-kr",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1252": "windows-1252",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp1257": "windows-1257",
    "cp866": "ibm866",
    "iso8859_2": "iso-8859-2",
    "koi8_r": "koi8-r",
}
_CODEC_NAMES = list(_CODECS)

# A script that never closes runs to the end: so that every byte is looked at once.
_MARKUP = re.compile(
    rb"<(?:script|style)\b.*?(?:</(?:script|style)\s*>|\Z)|<[^<>]*>", re.IGNORECASE | re.DOTALL
)
_TAIL = re.compile(rb"[^\x00-\x3f]*\Z")  # no encoding has trail bytes below 0x40, gb18030's digits apart
_ASCII_RUN = re.compile(rb"[\x00-\x7f]{64,}")


def detect(data: bytes) -> str | None:
    """The WHATWG encoding that non-ASCII `data` most likely is in, or None when nothing is likely."""
    sample = _sample(data)
    if sample.isascii():
        return None
    from charset_normalizer import from_bytes  # 8 ms that few processes need

    matches = from_bytes(sample, steps=4, chunk_size=512, cp_isolation=_CODEC_NAMES, enable_fallback=False)
    best = matches.best()
    if best is None:
        return None
    # Western text reads as well in the neighbours of windows-1252: between equals the commonest wins.
    for match in matches:
        equal = match.chaos <= best.chaos and match.coherence >= best.coherence
        if equal and "cp1252" in match.could_be_from_charset:
            return "windows-1252"
    return _CODECS[best.encoding]


def _sample(data: bytes) -> bytes:
    """Text around the non-ASCII bytes: markup removed, long ASCII stretches shortened."""
    text = _MARKUP.sub(b" ", data[:_SEARCHED_BYTES])
    if text.isascii():
        text = data[:_SEARCHED_BYTES]
    text = _ASCII_RUN.sub(lambda run: run[0][:32] + b" " + run[0][-32:], text)
    # Cut where a multi-byte character cannot be cut: a half one at the end would rule its encoding out.
    return text if len(text) <= SAMPLE_BYTES else _TAIL.sub(b"", text[:SAMPLE_BYTES])
