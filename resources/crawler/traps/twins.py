"""What two pages are compared by that differ only in a slot of their URLs: everything but the values of the slot. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from xxhash import xxh3_64_intdigest

from .slots import PATH_TOKEN_BYTES, Slot, slots

__all__ = ["TwinPrint", "twin_print"]

#: Bytes of a body that are compared: the work on a suspected page stays under a millisecond.
MAX_COMPARED = 500_000
#: A shorter value may stand in the text by chance; it is taken out of the slot alone.
LONG = 6

_CANONICAL = re.compile(rb"<link\b[^>]*\brel\s*=\s*[\"']?canonical\b[^>]*>", re.IGNORECASE)
_HREF = re.compile(rb"\bhref\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TwinPrint:
    """`body`: hash without the values of the slot. `canonical`: as the page names it. `links`: hash, without the slot."""

    body: int
    canonical: bytes
    links: int

    def alike(self, other: TwinPrint) -> bool:
        """Equal bodies; or, where a page changes by itself (a clock, a token), one canonical URL and equal links."""
        if self.body == other.body:
            return True
        return bool(self.canonical) and self.canonical == other.canonical and self.links == other.links


@lru_cache(maxsize=256)
def _values(name: str) -> re.Pattern[bytes]:
    if name.startswith("/"):
        return PATH_TOKEN_BYTES
    escaped = re.escape(name[1:].encode())
    return re.compile(rb"(?:[?&;]|&amp;)" + escaped + rb"=[^&\"'<>#\s;?/]*", re.IGNORECASE)


def twin_print(name: str, slot: Slot | None, body: bytes, links: Sequence[str]) -> TwinPrint:
    """The print of a page in the slot `name`; `slot`: as its own URL has it, None if it has none. Some 100 µs."""
    # `?a=1&b=2` without `a` is `&b=2`, on its bare twin `?b=2`: both marks are one.
    text = _values(name).sub(b"", body[:MAX_COMPARED]).replace(b"&amp;", b"&").replace(b"?", b"&")
    if slot is not None and len(slot.value) >= LONG:
        text = text.replace(slot.value.encode(), b"")
    tag = _CANONICAL.search(body)
    href = _HREF.search(tag.group()) if tag is not None else None
    bare = [next((s.rest for s in slots(url) if s.name == name), url) for url in links]
    return TwinPrint(
        xxh3_64_intdigest(text),
        href[1] if href is not None else b"",
        xxh3_64_intdigest("\n".join(bare).encode()),
    )
