"""gbk, gb18030, big5, euc-jp, shift_jis and euc-kr as the Encoding Standard decodes them (sections 10-14).

Python's C codecs do the bulk; what the standard says differently is put right in three ways:
 1. an error handler reads the sequence at which the codec stopped the standard's way: it looks it up in the
    standard's additions, else emits one U+FFFD and never swallows the ASCII byte that follows;
 2. characters that the codec maps otherwise are replaced in the text, where nothing else maps to them;
 3. the few sequences for which (2) would be ambiguous are cut out before the codec sees them.

Guarantees: never raises; linear in the length. Cost: that of the C codec (some 10 ns a byte) plus about
1 µs an erroneous sequence.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .big5_additions import BIG5_ADDITIONS

__all__ = ["MULTI_BYTE", "decode_multi_byte"]

_FFFD = "\ufffd"


def _is_ascii(byte: int) -> bool:
    return byte < 0x80


# --- one sequence, the standard's way: (bytes, position) -> (text, next position) ---------------------------


def _pair(
    data: bytes, at: int, is_lead: Callable[[int], bool], additions: dict[bytes, str]
) -> tuple[str, int]:
    """A two-byte sequence: known addition, else U+FFFD; an ASCII second byte stays for the next sequence."""
    if not is_lead(data[at]):
        return _FFFD, at + 1
    if at + 1 == len(data):
        return _FFFD, at + 1
    known = additions.get(data[at : at + 2])
    if known is not None:
        return known, at + 2
    return _FFFD, at + 1 if _is_ascii(data[at + 1]) else at + 2


def _step_gb18030(data: bytes, at: int) -> tuple[str, int]:
    size = len(data)
    first = data[at]
    if first == 0x80:
        return "\u20ac", at + 1
    if first == 0xFF or at + 1 == size:
        return _FFFD, at + 1
    if not 0x30 <= data[at + 1] <= 0x39:
        return _FFFD, at + 1 if _is_ascii(data[at + 1]) else at + 2
    # Four bytes: digits in second and fourth place. Cut by the end, it is one error.
    if at + 2 == size:
        return _FFFD, size
    if not 0x81 <= data[at + 2] <= 0xFE:
        return _FFFD, at + 1
    if at + 3 == size:
        return _FFFD, size
    return _FFFD, at + 4 if 0x30 <= data[at + 3] <= 0x39 else at + 1


def _step_big5(data: bytes, at: int) -> tuple[str, int]:
    return _pair(data, at, lambda b: 0x81 <= b <= 0xFE, BIG5_ADDITIONS)


def _step_euc_kr(data: bytes, at: int) -> tuple[str, int]:
    return _pair(data, at, lambda b: 0x81 <= b <= 0xFE, {})


def _step_shift_jis(data: bytes, at: int) -> tuple[str, int]:
    return _pair(data, at, lambda b: 0x81 <= b <= 0x9F or 0xE0 <= b <= 0xFC, {})


def _step_euc_jp(data: bytes, at: int) -> tuple[str, int]:
    size = len(data)
    if data[at] == 0x8F and at + 1 < size and 0xA1 <= data[at + 1] <= 0xFE:  # three bytes: JIS X 0212
        if at + 2 == size:
            return _FFFD, size
        return _FFFD, at + 2 if _is_ascii(data[at + 2]) else at + 3
    if at + 1 < size and 0xA1 <= data[at] <= 0xFE and 0xA1 <= data[at + 1] <= 0xFE:
        return _jis0208_vendor(data[at], data[at + 1]), at + 2
    return _pair(data, at, lambda b: b in (0x8E, 0x8F) or 0xA1 <= b <= 0xFE, {})


def _jis0208_vendor(first: int, second: int) -> str:
    """Rows that NEC and IBM added to JIS X 0208: the standard's index is that of cp932, in other bytes."""
    lead, trail = divmod((first - 0xA1) * 94 + (second - 0xA1), 188)
    shift_jis = bytes([lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)])
    return shift_jis.decode("cp932", "replace")[0]


# --- the encodings ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Encoding:
    codec: str
    step: Callable[[bytes, int], tuple[str, int]]
    #: Characters of the codec -> characters of the standard, each reachable by one sequence only.
    replace: dict[str, str] = field(default_factory=dict)
    #: Sequences to take out before the codec runs -> their text.
    cut: dict[bytes, str] = field(default_factory=dict)
    #: How bytes group into sequences of more than one byte: needed to find `cut` in step with the decoder.
    sequence: bytes = b""


# GB 18030-2022 moved these from the private use area to real characters (index gb18030).
_GB18030_MOVED = dict(
    zip(
        "\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796"
        "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864\ue5e5\ue7c7\u1e3f",
        "\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19"
        "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb\u3000\u1e3f\ue7c7",
        strict=True,
    )
)
_GB18030 = _Encoding("gb18030", _step_gb18030, _GB18030_MOVED)

_ENCODINGS = {
    "gbk": _GB18030,  # the gbk decoder is the gb18030 decoder (section 10.1.1)
    "gb18030": _GB18030,
    "big5": _Encoding(
        "big5hkscs",
        _step_big5,
        dict(zip("\u2022\uff64\u203e\u223c\u2641\u2609\u00a5\u00a2\u00a3", "‧﹑¯～⊕⊙￥￠￡", strict=True)),
        {b"\xa2\x41": "\u2215", b"\xa2\x42": "\ufe68"},
        rb"[\x81-\xfe][\x40-\x7e\x80-\xff]",
    ),
    "euc-jp": _Encoding(
        "euc_jp",
        _step_euc_jp,
        dict(zip("\u301c\u2016\u2212\u00a2\u00a3\u00ac", "～∥－￠￡￢", strict=True)),
        {b"\x8f\xa2\xb7": "\uff5e"},
        rb"\x8f[\xa1-\xfe][\x80-\xff]|[\x8e\x8f\xa1-\xfe][\x80-\xff]",
    ),
    # The vendor's codec gives bytes that are no lead byte a private use character.
    "shift_jis": _Encoding("cp932", _step_shift_jis, dict.fromkeys("\uf8f0\uf8f1\uf8f2\uf8f3", _FFFD)),
    "euc-kr": _Encoding("cp949", _step_euc_kr),
}

#: Names of the encodings this module decodes.
MULTI_BYTE = frozenset(_ENCODINGS)


def _handler(step: Callable[[bytes, int], tuple[str, int]]) -> Callable[[UnicodeError], tuple[str, int]]:
    def handle(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        return step(error.object, error.start)

    return handle


for _encoding in _ENCODINGS.values():
    codecs.register_error(f"whatwg-{_encoding.codec}", _handler(_encoding.step))
_REPLACED = {
    name: re.compile("[" + "".join(encoding.replace) + "]") if encoding.replace else None
    for name, encoding in _ENCODINGS.items()
}


def decode_multi_byte(data: bytes, encoding: str) -> str:
    """`data` as text by the standard's decoder for `encoding`, one of MULTI_BYTE."""
    rules = _ENCODINGS[encoding]
    if any(sequence in data for sequence in rules.cut):
        return "".join(
            rules.cut[piece] if piece in rules.cut else _decode_piece(piece, encoding)
            for piece in _pieces(data, rules)
        )
    return _decode_piece(data, encoding)


def _decode_piece(data: bytes, encoding: str) -> str:
    rules = _ENCODINGS[encoding]
    text = data.decode(rules.codec, f"whatwg-{rules.codec}")
    replaced = _REPLACED[encoding]
    return text if replaced is None else replaced.sub(lambda m: rules.replace[m[0]], text)


def _pieces(data: bytes, rules: _Encoding) -> list[bytes]:
    """`data` in pieces, each sequence of `rules.cut` a piece of its own."""
    pieces, start = [], 0
    for match in re.finditer(rules.sequence, data):
        if match[0] in rules.cut:
            pieces += [data[start : match.start()], match[0]]
            start = match.end()
    return [*pieces, data[start:]]
