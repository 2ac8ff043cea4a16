"""Bytes to text by the decoders of the Encoding Standard."""

from __future__ import annotations

from .iso_2022_jp import decode_iso_2022_jp
from .labels import encoding_for_label
from .multi_byte import MULTI_BYTE, decode_multi_byte
from .prescan import bom
from .single_byte import SINGLE_BYTE, decode_single_byte

__all__ = ["decode", "reads_ascii_as_ascii"]


def decode(data: bytes, encoding: str) -> str:
    """`data` as text. `encoding` is any WHATWG label; a byte order mark of that very encoding is dropped.

    Never fails on bytes: an erroneous sequence becomes U+FFFD and the ASCII byte after it stays. The result
    has no surrogates, so it encodes as UTF-8. Raises LookupError for a label that the standard does not know.
    """
    name = encoding_for_label(encoding)
    if name is None:
        raise LookupError(f"{encoding!r} is no encoding label of the WHATWG Encoding Standard")
    if name in SINGLE_BYTE:
        return decode_single_byte(data, name)
    if name in MULTI_BYTE:
        return decode_multi_byte(data, name)
    if name == "iso-2022-jp":
        return decode_iso_2022_jp(data)
    if name == "replacement":
        return "\ufffd" if data else ""
    # UTF-8 and UTF-16: Python replaces maximal subparts and lone surrogates exactly as the standard does.
    mark = bom(data)
    if mark is not None and mark[0] == name:
        data = data[mark[1] :]
    return data.decode(name, "replace")


def reads_ascii_as_ascii(data: bytes, encoding: str) -> bool:
    """Whether `data`, all ASCII bytes, decodes to itself in `encoding` (a name, not a label)."""
    if encoding in ("utf-16le", "utf-16be", "replacement"):
        return False
    if encoding == "iso-2022-jp":
        return not (b"\x1b" in data or b"\x0e" in data or b"\x0f" in data)
    return True
