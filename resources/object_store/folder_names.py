"""A domain as the name of a folder, and back.

Every byte that is not a small letter, a digit, a hyphen or an inner dot is written as `_` and two hex digits:
nothing a domain says can leave the prefix.
"""

from __future__ import annotations

import string

__all__ = ["domain_name", "folder_name"]

_PLAIN = frozenset(string.ascii_lowercase.encode() + string.digits.encode() + b"-.")


def folder_name(domain: str) -> str:
    raw = domain.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in _PLAIN else f"_{byte:02x}" for byte in raw)
    return "_" if not name else f"_2e{name[1:]}" if name[0] == "." else name


def domain_name(folder: str) -> str:
    if folder == "_":
        return ""
    first, *rest = folder.split("_")
    raw = first.encode() + b"".join(bytes([int(each[:2], 16)]) + each[2:].encode() for each in rest)
    return raw.decode("utf-8", "surrogatepass")
