"""The keys of all but the newest rows as one sorted file beside the database: looked up, merged, made anew.

The file holds three columns, one after the other and in the order of the keys: first halves of the keys, second
halves, row ids; 24 bytes a key. It is mapped into memory, searched with numpy and never changed: a merge writes the
next one. It is derived: a file that is missing or is not whole is made again from the rows, and nobody's data is in
it. Its name has a random number that the database knows, so that a file of another history is never taken for it.

Costs at ten million keys: 1-2 us a key that is looked up among some thousand; a merge 0.6 us for each of 400,000 new
keys and 240 MB written; making it anew about a minute. Memory is the kernel's page cache: `relax` lets go of it.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KeyRun", "Merge", "Rows", "run_path"]

_MAGIC = b"NCKEYS01"
_HEADER = struct.Struct("<8sQQ")  # magic, number of the run, keys
#: A page: so that the columns can be mapped without copying.
_HEADER_BYTES = 4096
_WORD = 8

#: Looked-up keys after which the pages they touched are let go: at most some 40 MB of them.
RELAX_AFTER = 20_000

#: Bytes of a merge between two syncs: the last one, within a transaction, has little left to do.
SYNC_BYTES = 16 << 20

Words = NDArray[np.uint64]


class Rows:
    """Keys with their ids as columns, in key order."""

    __slots__ = ("heads", "ids", "tails")

    def __init__(self, heads: Words, tails: Words, ids: Words) -> None:
        self.heads, self.tails, self.ids = heads, tails, ids

    @classmethod
    def of(cls, keys: Sequence[bytes], ids: Sequence[int]) -> Rows:
        """From Python's values, in any order."""
        heads, tails = _halves(keys)
        order = np.lexsort((tails, heads))
        return cls(heads[order], tails[order], np.array(ids, np.uint64)[order])

    def __len__(self) -> int:
        return len(self.heads)


def run_path(database: Path, number: int) -> Path:
    """Where the run with this number is."""
    return database.with_name(f"{database.name}-keys-{number:016x}")


def _halves(keys: Sequence[bytes]) -> tuple[Words, Words]:
    if not keys:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    both = np.frombuffer(b"".join(keys), ">u8").astype(np.uint64).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


class KeyRun:
    """One run, open for reading. Raises ValueError for a file that is not whole, FileNotFoundError without one."""

    def __init__(self, path: Path, number: int) -> None:
        self.path, self.number = path, number
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(_HEADER.size)
            magic, own, count = _HEADER.unpack(head) if len(head) == _HEADER.size else (b"", 0, 0)
            if magic != _MAGIC or own != number or size != _HEADER_BYTES + 3 * _WORD * count:
                raise ValueError(f"{path} is not a whole run of keys")
            self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.rows = Rows(*(self._column(place, count) for place in range(3)))
        self._touched = 0

    def __repr__(self) -> str:
        return f"<KeyRun {self.path.name}: {len(self.rows):,} keys>"

    def _column(self, place: int, count: int) -> Words:
        if not count:
            return np.empty(0, np.uint64)
        return np.frombuffer(self._map, "<u8", count, _HEADER_BYTES + _WORD * count * place)

    def find(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """The row ids of those keys that are in the run."""
        if not keys or not len(self.rows):
            return {}
        heads, tails = _halves(keys)
        order = np.argsort(heads)
        at, found = self.places(heads[order], tails[order])
        ids = self.rows.ids[at[found]].tolist()
        result = {keys[place]: row_id for place, row_id in zip(order[found].tolist(), ids, strict=True)}
        self._touched += len(keys)
        if self._touched > RELAX_AFTER:
            self.relax()
        return result

    def places(self, heads: Words, tails: Words) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Where each key is, and whether it is there at all. `heads` ascending: that is fastest."""
        rows = self.rows
        last = len(rows) - 1
        at = np.minimum(rows.heads.searchsorted(heads), last)
        same_head = rows.heads[at] == heads
        found = same_head & (rows.tails[at] == tails)
        # Two keys with one first half: once in a hundred thousand frontiers of ten million.
        for place in np.flatnonzero(same_head & ~found).tolist():
            while at[place] < last and rows.heads[at[place] + 1] == heads[place]:
                at[place] += 1
                if rows.tails[at[place]] == tails[place]:
                    found[place] = True
                    break
        return at, found

    def relax(self) -> None:
        """Give the pages that were touched back to the kernel's cache."""
        self._map.madvise(mmap.MADV_DONTNEED)
        self._touched = 0


class Merge:
    """The next run in the making: the old one without `dropped`, with `new`. A piece at a time: `step`."""

    def __init__(self, database: Path, number: int, old: KeyRun | None, new: Rows, dropped: Rows) -> None:
        self.number = number
        self.path = run_path(database, number)
        self._draft = self.path.with_name(f"{database.name}-keys-draft-{os.getpid()}-{number:016x}")
        empty = np.empty(0, np.uint64)
        self._old = old.rows if old is not None else Rows(empty, empty, empty)
        self._run = old
        self._new = new
        self._gone = _gone(old, dropped)
        self._at = self._old.heads.searchsorted(new.heads)  # before which old row each new one goes
        self._count = len(self._old) - len(self._gone) + len(new)
        self._read = self._written = self._unsynced = 0
        self._file = os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.ftruncate(self._file, _HEADER_BYTES + 3 * _WORD * self._count)
        os.pwrite(self._file, _HEADER.pack(_MAGIC, number, self._count), 0)

    def __repr__(self) -> str:
        return f"<Merge of {len(self._new):,} keys into {len(self._old):,}: {self._written:,} written>"

    def step(self, share: float) -> bool:
        """Do this share of the whole; True when all is done."""
        old = self._old
        size = max(1, int(len(old) * share) + 1)
        begin, end = self._read, min(self._read + size, len(old))
        whole = end == len(old)
        first, after = np.searchsorted(self._at, [begin, end])
        if whole:
            after = len(self._at)
        gone = self._gone[slice(*np.searchsorted(self._gone, [begin, end]))] - begin
        at = self._at[first:after] - begin
        keep = None
        if len(gone):
            keep = np.ones(end - begin, np.bool_)
            keep[gone] = False
            at = at - np.searchsorted(gone, at)
        columns = ((old.heads, self._new.heads), (old.tails, self._new.tails), (old.ids, self._new.ids))
        wrote = 0
        for place, (before, added) in enumerate(columns):
            piece = before[begin:end] if keep is None else before[begin:end][keep]
            merged = np.insert(piece, at, added[first:after])
            wrote = len(merged)
            offset = _HEADER_BYTES + _WORD * (self._count * place + self._written)
            _write(self._file, np.ascontiguousarray(merged, "<u8").data.cast("B"), offset)
        self._read, self._written = end, self._written + wrote
        self._unsynced += 3 * _WORD * wrote
        if self._unsynced > SYNC_BYTES:
            os.fdatasync(self._file)
            self._unsynced = 0
        if self._run is not None:
            self._run.relax()
        return whole

    def finish(self) -> KeyRun:
        """Make it durable under its name. The old run stays, for readers of an older state of the database."""
        os.fsync(self._file)
        os.close(self._file)
        self._file = -1
        self._draft.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return KeyRun(self.path, self.number)

    def abandon(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            self._draft.unlink(missing_ok=True)


def _gone(old: KeyRun | None, dropped: Rows) -> NDArray[Any]:
    """Places of the dropped rows in the old run, ascending."""
    if old is None or not len(dropped) or not len(old.rows):
        return np.empty(0, np.int64)
    at, found = old.places(dropped.heads, dropped.tails)
    found &= old.rows.ids[at] == dropped.ids
    return np.unique(at[found])


def _write(file: int, data: memoryview, offset: int) -> None:
    while data:
        done = os.pwrite(file, data, offset)
        data, offset = data[done:], offset + done
