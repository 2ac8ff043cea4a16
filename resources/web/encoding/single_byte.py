"""The single-byte encodings of the Encoding Standard (section 9), as 256-character decoding tables.

Python's codecs know the same tables with three differences, which are corrected here: bytes 0x80-0x9F that
a vendor left unassigned are C1 controls in the windows family, one Hebrew point (windows-1255), and two
letters of Belarusian (koi8-u). A byte without a meaning becomes U+FFFD. Tables are built at first use.
"""

from __future__ import annotations

import codecs
from functools import cache

__all__ = ["SINGLE_BYTE", "decode_single_byte"]

_CODEC = {
    "ibm866": "cp866",
    "iso-8859-8-i": "iso-8859-8",  # the same bytes; only the direction of the text differs
    "macintosh": "mac-roman",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}

# Where a vendor's table and the standard's index differ: byte -> character.
_CORRECTIONS = {
    "koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
}

#: Names of the encodings this module decodes.
SINGLE_BYTE = frozenset(
    ["ibm866", "koi8-r", "koi8-u", "macintosh", "windows-874", "x-mac-cyrillic", "x-user-defined"]
    + [f"iso-8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, "8-i", 10, 13, 14, 15, 16)]
    + [f"windows-{n}" for n in range(1250, 1259)]
)


@cache
def _table(encoding: str) -> str:
    if encoding == "x-user-defined":
        # Bytes from 0x80 stand in the private use area, U+F780 to U+F7FF (section 14.5).
        return "".join(chr(b if b < 0x80 else 0xF700 + b) for b in range(256))
    chars = list(bytes(range(256)).decode(_CODEC.get(encoding, encoding), "replace"))
    if encoding.startswith("windows-"):
        for byte in range(0x80, 0xA0):
            if chars[byte] == "\ufffd":
                chars[byte] = chr(byte)
    for byte, char in _CORRECTIONS.get(encoding, {}).items():
        chars[byte] = char
    return "".join(chars)


def decode_single_byte(data: bytes, encoding: str) -> str:
    """`data` as text; exactly one character a byte. `encoding` is one of SINGLE_BYTE."""
    # A string of 256 characters is the fastest mapping; the stubs know only dictionaries.
    return codecs.charmap_decode(data, "strict", _table(encoding))[0]  # type: ignore[arg-type]
