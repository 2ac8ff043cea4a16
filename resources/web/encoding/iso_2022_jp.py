"""The iso-2022-jp decoder of the Encoding Standard (section 13.2): a state machine of escape sequences.

Runs of bytes inside one state are decoded at once; JIS X 0208 pairs are EUC-JP pairs without the high bit.
An escape sequence that changes nothing (directly after another one) is an error, so that hidden text
cannot be built from them.
"""

from __future__ import annotations

import re

from .multi_byte import decode_multi_byte

__all__ = ["decode_iso_2022_jp"]

_ESC = 0x1B
_FFFD = "\ufffd"
_STATE_OF_ESCAPE = {
    b"(B": "ascii",
    b"(J": "roman",
    b"(I": "katakana",
    b"$@": "jis0208",
    b"$B": "jis0208",
}
_RUN = {
    "ascii": re.compile(rb"[\x00-\x0d\x10-\x1a\x1c-\x7f]+"),
    "roman": re.compile(rb"[\x00-\x0d\x10-\x1a\x1c-\x7f]+"),
    "katakana": re.compile(rb"[\x21-\x5f]+"),
    "jis0208": re.compile(rb"(?:[\x21-\x7e]{2})+"),
}
_ROMAN = str.maketrans({"\\": "\u00a5", "~": "\u203e"})
_HIGH_BIT = bytes(b | 0x80 for b in range(256))


def decode_iso_2022_jp(data: bytes) -> str:
    """`data` as text; each error becomes one U+FFFD. Linear in the length."""
    out: list[str] = []
    state = "ascii"
    escaped = False  # an escape sequence was read and nothing since: a second one is an error
    at, size = 0, len(data)
    while at < size:
        if data[at] == _ESC:
            new = _STATE_OF_ESCAPE.get(data[at + 1 : at + 3])
            if new is None:
                out.append(_FFFD)
                escaped = False
                at += 1  # the two bytes that follow are read again as text
                continue
            if escaped:
                out.append(_FFFD)
            escaped = True
            state = new
            at += 3
            continue
        run = _RUN[state].match(data, at)
        if run is not None:
            out.append(_text(run[0], state))
            at = run.end()
            escaped = False
            continue
        escaped = False
        out.append(_FFFD)
        if state == "jis0208" and 0x21 <= data[at] <= 0x7E and at + 1 < size and data[at + 1] != _ESC:
            at += 2  # a lead byte takes a bad trail byte with it
        else:
            at += 1
    return "".join(out)


def _text(run: bytes, state: str) -> str:
    if state == "ascii":
        return run.decode("ascii")
    if state == "roman":
        return run.decode("ascii").translate(_ROMAN)
    if state == "katakana":
        return "".join(chr(0xFF61 - 0x21 + byte) for byte in run)
    return decode_multi_byte(run.translate(_HIGH_BIT), "euc-jp")
