"""The keys of many rows as one sorted file beside the database: written once (`key_merge`), looked up, never changed.

A key is 16 bytes, and keys are like random bits. Their first `bits` bits are therefore not written: they are the
number of a bucket, and a directory says where each bucket begins, 8 to 16 keys apart. Of the other bits the next 32
stand in a column of their own, which alone is searched; the rest of the key decides. So a look-up touches one line of
the directory, one or two of the searched column, and if these 32 bits agree, one of each of the others: no cost grows
with the run but that of memory being further away. Every answer compares all 128 bits.

It is derived: a file that is missing or is not whole is made again from the rows, and nobody's data is in it. Its name
has a random number that the database knows, so that a file of another history is never taken for it.

Costs: 14.4 bytes of mapped memory a key (the kernel's page cache, which it can take back), 4 more on the disk for the
row id; about 0.2 us a key that is looked up among some thousand.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "SECTIONS",
    "SECTION_BITS",
    "Header",
    "KeyRun",
    "Layout",
    "OldFormat",
    "Rows",
    "halves",
    "run_path",
]

_MAGIC, _OLD_MAGIC = b"NCKEYS02", b"NCKEYS01"
#: Magic, number of the run, room for keys, keys, bits, keys in the fullest bucket, bytes of an id, runs beneath.
_HEADER = struct.Struct("<8s7Q")
#: A page: so that columns can be mapped without copying, and let go of one by one.
_PAGE = 4096
_MOST_BENEATH = (_PAGE - _HEADER.size) // 8

#: All runs can be cut at the first 16 bits of the keys, whatever the number of their buckets: merges do.
SECTION_BITS = 16
SECTIONS = 1 << SECTION_BITS
#: A 32-bit column and a 16-bit one hold what is left of a key's first half.
_MOST_BITS = 32

#: Ids looked up after which their pages are let go: few callers ask for ids, and none needs them again.
_RELAX_AFTER = 20_000

Words = NDArray[np.uint64]
Places = NDArray[np.int64]


class OldFormat(ValueError):
    """A run as an earlier release wrote it."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Keys (first and second halves) with their ids as columns, in order of the first halves."""

    heads: Words
    tails: Words
    ids: Words

    @classmethod
    def of(cls, keys: Sequence[bytes], ids: Sequence[int]) -> Rows:
        """From Python's values, in any order."""
        heads, tails = halves(keys)
        order = np.argsort(heads)
        return cls(heads[order], tails[order], np.fromiter(ids, np.uint64, len(ids))[order])

    def __len__(self) -> int:
        return len(self.heads)

    def by_id(self) -> dict[bytes, int]:
        """As Python's values again, in order of the ids."""
        order = np.argsort(self.ids)
        both = np.column_stack((self.heads[order], self.tails[order])).astype(">u8").tobytes()
        keys = [both[at : at + 16] for at in range(0, len(both), 16)]
        return dict(zip(keys, self.ids[order].tolist(), strict=True))

    def places(self, heads: Words, tails: Words) -> tuple[Places, NDArray[np.bool_]]:
        """Where each key is, and whether it is there at all: a binary search, some 0.1 us among 64,000."""
        found = np.zeros(len(heads), np.bool_)
        at = self.heads.searchsorted(heads)
        open_ones = np.flatnonzero(at < len(self))
        # As in a run: keys that agree in their first half are compared one after another.
        while len(open_ones):
            here = at[open_ones]
            same = self.heads.take(here) == heads[open_ones]
            open_ones, here = open_ones[same], here[same]
            equal = self.tails.take(here) == tails[open_ones]
            found[open_ones[equal]] = True
            open_ones = open_ones[~equal]
            at[open_ones] += 1
            open_ones = open_ones[at[open_ones] < len(self)]
        return at, found

    def ids_at(self, places: Places) -> list[int]:
        """The row ids at these places."""
        found: list[int] = self.ids.take(places).tolist()
        return found


def halves(keys: Sequence[bytes]) -> tuple[Words, Words]:
    """First and second halves as numbers that sort like the bytes."""
    if not keys:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    both = np.frombuffer(b"".join(keys), ">u8").astype(np.uint64).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def run_path(database: Path, number: int) -> Path:
    """Where the run with this number is."""
    return database.with_name(f"{database.name}-keys-{number:016x}")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands in a file with room for so many keys."""

    room: int
    bits: int
    id_bytes: int

    @classmethod
    def of(cls, room: int, last_id: int) -> Layout:
        """The layout for so many keys with ids up to `last_id`. ValueError: more than the directory can count."""
        if room >= 1 << 32:
            raise ValueError(
                f"{room:,} keys are too many for one run; give some of the sites a frontier of their own"
            )
        bits = min(max((room >> 4).bit_length(), SECTION_BITS), _MOST_BITS)
        return cls(room, bits, 4 if last_id < 1 << 32 else 8)

    def columns(self) -> Iterator[tuple[str, str, int, int]]:
        """Name, dtype, entries and offset of each column; in the end a nameless one of no entries."""
        at = _PAGE
        for name, dtype, entries in (
            ("directory", "<u4", (1 << self.bits) + 1),
            ("prints", "<u4", self.room),
            ("lows", "<u2", self.room),
            ("tails", "<u8", self.room),
            ("ids", f"<u{self.id_bytes}", self.room),
        ):
            yield name, dtype, entries, at
            size = entries * int(dtype[-1])
            at += size + -size % _PAGE
        yield "", "<u4", 0, at

    @property
    def size(self) -> int:
        """Bytes of the file."""
        *_, (_, _, _, end) = self.columns()
        return end

    def split(self, heads: Words) -> tuple[Words, NDArray[np.uint32], NDArray[np.uint16]]:
        """First halves of keys as bucket, the 32 bits that are searched, and the bits after them."""
        left = _MOST_BITS - self.bits
        return (
            heads >> np.uint64(64 - self.bits),
            (heads >> np.uint64(left)).astype(np.uint32),
            (heads & np.uint64((1 << left) - 1)).astype(np.uint16),
        )

    def join(self, buckets: Words, prints: NDArray[np.uint32], lows: NDArray[np.uint16]) -> Words:
        """The inverse of `split`."""
        heads = buckets << np.uint64(64 - self.bits)
        heads |= prints.astype(np.uint64) << np.uint64(_MOST_BITS - self.bits)
        heads |= lows
        return heads


@dataclass(frozen=True, slots=True)
class Header:
    """The first page of a run. `beneath`: the numbers of the runs that it completes, largest first."""

    number: int
    layout: Layout
    count: int
    fullest: int
    beneath: tuple[int, ...]

    def packed(self) -> bytes:
        layout = self.layout
        if len(self.beneath) > _MOST_BENEATH:
            raise ValueError(f"{len(self.beneath)} runs of keys do not fit into the head of a file")
        head = _HEADER.pack(
            _MAGIC, self.number, layout.room, self.count, layout.bits, self.fullest, layout.id_bytes,
            len(self.beneath),
        )  # fmt: skip
        return head + struct.pack(f"<{len(self.beneath)}Q", *self.beneath)

    @classmethod
    def read(cls, page: bytes, size: int, number: int) -> Header:
        """From the first page of a file of that size. ValueError: it is not the whole run with this number."""
        if len(page) == _PAGE:
            magic, own, room, count, bits, fullest, id_bytes, beneath = _HEADER.unpack_from(page)
            if magic == _OLD_MAGIC:
                raise OldFormat("it is a run of keys in the format of an earlier release")
            sound = magic == _MAGIC and own == number and count <= room and SECTION_BITS <= bits <= _MOST_BITS
            if sound and id_bytes in (4, 8) and beneath <= _MOST_BENEATH:
                layout = Layout(room, bits, id_bytes)
                if size == layout.size:
                    chain = struct.unpack_from(f"<{beneath}Q", page, _HEADER.size)
                    return cls(number, layout, count, fullest, chain)
        raise ValueError("it is not a whole run of keys")


class KeyRun:
    """One run, open for reading. Raises ValueError for a file that is not whole, FileNotFoundError without one."""

    def __init__(self, path: Path, number: int) -> None:
        self.number = number
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            try:
                self.header = Header.read(file.read(_PAGE), size, number)
            except ValueError as error:
                raise type(error)(f"{path}: {error}") from None
            self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self._layout = self.header.layout
        columns = {name: (dtype, entries, at) for name, dtype, entries, at in self._layout.columns()}
        self._directory = self._column(*columns["directory"])
        self._prints = self._column(*columns["prints"])
        self._lows = self._column(*columns["lows"])
        self._tails = self._column(*columns["tails"])
        self._ids = self._column(*columns["ids"])
        self._ids_at = columns["ids"][2]
        self._ids_touched = 0
        if int(self._directory[-1]) != len(self):
            raise ValueError(f"{path}: it is not a whole run of keys")

    def __len__(self) -> int:
        return self.header.count

    def __repr__(self) -> str:
        return f"<KeyRun {self.number:016x}: {len(self):,} keys>"

    def _column(self, dtype: str, entries: int, at: int) -> NDArray[Any]:
        # Mapping of length 0 past the end of the file: frombuffer refuses it, an empty array says the same.
        return np.frombuffer(self._map, dtype, entries, at) if entries else np.empty(0, dtype)

    # -- looking up --------------------------------------------------------------------------------
    def places(self, heads: Words, tails: Words) -> tuple[Places, NDArray[np.bool_]]:
        """Where each key is, and whether it is there at all."""
        found = np.zeros(len(heads), np.bool_)
        if not len(self):
            return np.zeros(len(heads), np.int64), found
        bucket_numbers, prints, lows = self._layout.split(heads)
        buckets = bucket_numbers.astype(np.int64)
        at = self._directory.take(buckets).astype(np.int64)
        ends = self._directory.take(buckets + 1).astype(np.int64)
        # A binary search in all buckets at once: `at` becomes the first place whose 32 bits are not lower.
        width = 1 << (self.header.fullest.bit_length() - 1)
        while width:
            probe = at + (width - 1)
            lower = self._prints.take(probe, mode="clip") < prints
            lower &= probe < ends
            at += lower * np.int64(width)
            width >>= 1
        # Several keys of a bucket may agree in these 32 bits: all of them are compared, one a round.
        open_ones = np.flatnonzero(at < ends)
        while len(open_ones):
            here = at[open_ones]
            same = self._prints.take(here) == prints[open_ones]
            open_ones, here = open_ones[same], here[same]
            equal = self._tails.take(here) == tails[open_ones]
            equal &= self._lows.take(here) == lows[open_ones]
            found[open_ones[equal]] = True
            open_ones = open_ones[~equal]
            at[open_ones] += 1
            open_ones = open_ones[at[open_ones] < ends[open_ones]]
        return at, found

    def ids_at(self, places: Places) -> list[int]:
        """The row ids at these places."""
        ids: list[int] = self._ids.take(places).tolist()
        self._ids_touched += len(ids)
        if self._ids_touched > _RELAX_AFTER:
            self._relax_ids()
        return ids

    # -- being merged ------------------------------------------------------------------------------
    def section_ends(self) -> Places:
        """How many keys there are up to the end of each section."""
        width = 1 << (self._layout.bits - SECTION_BITS)
        return self._directory[width::width].astype(np.int64)

    def rows(self, begin: int, end: int) -> Rows:
        """The keys of these sections."""
        shift = self._layout.bits - SECTION_BITS
        first, last = begin << shift, end << shift
        starts = self._directory[first : last + 1]
        here = slice(int(starts[0]), int(starts[-1]))
        buckets = np.arange(first, last, dtype=np.uint64).repeat(np.diff(starts))
        heads = self._layout.join(buckets, self._prints[here], self._lows[here])
        rows = Rows(heads, self._tails[here], self._ids[here].astype(np.uint64))
        self._relax_ids()
        return rows

    def _relax_ids(self) -> None:
        """Give the pages of the ids that were touched back to the kernel's cache."""
        start = self._ids_at + -self._ids_at % mmap.PAGESIZE
        if start < len(self._map):
            self._map.madvise(mmap.MADV_DONTNEED, start, len(self._map) - start)
        self._ids_touched = 0
