"""A pack: many small bodies of one domain and what was said about their pages, as one object.

Layout: dictionary, bodies (each a zstd frame of its own), footer (zstd of JSON), its length (4 bytes,
little-endian), `NCP1`. The footer has everything but the bodies, so an index is read with one request a pack:

    {"dictionary": [start, length, raw], "bodies": [[hash, start, length], …], "events": […]}

Events, each at its place (pack, number) in the order of all that ever happened to a domain:

    ["v", order, revision, head]  a version of a page exists; order and revision null: this very place
    ["t", head]                   a 304: the head of the current version of that body is this one
    ["d", kind, key, order]       the version of that order is gone (pruned, quarantined)

In a batch of pages the first body is the dictionary of the others: pages of a site share their frame.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import zstandard

from resources.pages.base import Kind, PageHead, PageStoreError
from resources.pages.compression import DENSE_LEVEL, LEVEL, Codec
from resources.pages.head_fields import decode_pairs, encode_fields

__all__ = [
    "MAGIC",
    "Footer",
    "Order",
    "PackWriter",
    "Place",
    "footer_from",
    "footer_length",
    "head_from",
    "head_record",
    "read_footer",
    "sealed",
    "unsealed",
]

#: (pack, number of the event in it).
Order = tuple[str, int]

MAGIC = b"NCP1"
_TAIL = struct.Struct("<I4s")
#: A longer body gives a dictionary no more than this.
DICTIONARY_MAX = 128 * 1024


@dataclass(slots=True, frozen=True)
class Place:
    """Where a body is."""

    pack: str
    start: int
    length: int


@dataclass(slots=True)
class Footer:
    """What a pack says. `dictionary`: start, length, whether it is raw content."""

    dictionary: tuple[int, int, bool]
    bodies: dict[bytes, Place]
    events: list[list[Any]]
    size: int


def head_record(head: PageHead) -> list[Any]:
    """A head without its domain, as JSON can hold it."""
    return [
        head.key.hex(), int(head.kind), head.content_hash.hex(), head.status, head.body_bytes, head.fetched_at,
        head.validated_at, head.first_seen_at, head.changed_at, head.requested_at,
        *json.loads(encode_fields(head)),
    ]  # fmt: skip


def head_from(record: Sequence[Any], domain: str) -> PageHead:
    """The head in a record."""
    key, kind, content, status, size, fetched, validated, seen, changed, requested = record[:10]
    url, final, run_id, depth, encoding, source, verdict, version, note, vary, headers = record[10:21]
    return PageHead(
        bytes.fromhex(key), url, domain, Kind(kind), status, decode_pairs(headers), bytes.fromhex(content), size,
        fetched, validated, seen, changed, url if final == 0 else final, run_id, depth, decode_pairs(vary),
        requested, encoding, source, verdict, version, note,
    )  # fmt: skip


@dataclass
class PackWriter:
    """Gathers events and bodies; `data` is the object. `dictionary`: a trained one, or None."""

    dictionary: bytes | None = None
    dense: bool = False
    events: list[list[Any]] = field(default_factory=list)
    bodies: dict[bytes, bytes] = field(default_factory=dict)

    def data(self) -> bytes:
        blob, footer = self.laid_out()
        return blob + sealed(footer, MAGIC)

    def laid_out(self, base: int = 0) -> tuple[bytes, dict[str, Any]]:
        """Dictionary and bodies, and the footer for them if they begin at `base` of an object."""
        level = DENSE_LEVEL if self.dense else LEVEL
        plain = Codec(None, level)
        parts: list[bytes] = []
        raw = self.dictionary is None
        words = self.dictionary
        if raw and len(self.bodies) > 1:
            words = next(body for body in self.bodies.values())[:DICTIONARY_MAX]
        if words:
            parts.append(plain.compress(words))
        at = base + sum(map(len, parts))
        dictionary = (base, at - base, raw)
        codec = Codec(words, level, raw=raw) if words else plain
        places = []
        for content, body in self.bodies.items():
            frame = codec.compress(body)
            places.append([content.hex(), at, len(frame)])
            parts.append(frame)
            at += len(frame)
        return b"".join(parts), {"dictionary": dictionary, "bodies": places, "events": self.events}


def sealed(footer: dict[str, Any], magic: bytes) -> bytes:
    """A footer as it stands at the end of an object."""
    packed = Codec(None, LEVEL).compress(json.dumps(footer, separators=(",", ":")).encode("ascii"))
    return packed + _TAIL.pack(len(packed), magic)


def footer_length(end: bytes, name: str, magic: bytes = MAGIC) -> int:
    """How many bytes at the end of an object its footer takes, its tail included."""
    try:
        length, found = _TAIL.unpack(end[-_TAIL.size :])
    except struct.error:
        found = b""
    if found != magic:
        raise PageStoreError(f"{name} is no pack of pages; name another prefix for the page store")
    return int(length) + _TAIL.size


def read_footer(end: bytes, name: str, size: int) -> Footer:
    """The footer from the last bytes of the pack `name`."""
    return footer_from(unsealed(end, name, MAGIC), name, size)


def unsealed(end: bytes, name: str, magic: bytes) -> dict[str, Any]:
    """The footer in the last bytes of the object `name`."""
    length = footer_length(end, name, magic)
    try:
        found: dict[str, Any] = json.loads(
            zstandard.ZstdDecompressor().decompress(end[-length : -_TAIL.size])
        )
        return found
    except (zstandard.ZstdError, ValueError) as wrong:
        raise PageStoreError(f"the footer of {name} is damaged: {wrong}") from wrong


def footer_from(found: dict[str, Any], name: str, size: int) -> Footer:
    """What the footer of the pack `name` says."""
    try:
        bodies = {
            bytes.fromhex(content): Place(name, start, long) for content, start, long in found["bodies"]
        }
        start, long, raw = found["dictionary"]
        return Footer((start, long, raw), bodies, found["events"], size)
    except (ValueError, KeyError) as wrong:
        raise PageStoreError(f"the footer of {name} is damaged: {wrong}") from wrong
