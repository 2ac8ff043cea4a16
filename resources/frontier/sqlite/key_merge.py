"""The making of a run of keys from others and from rows in memory, a piece at a time.

Guarantees: what is not finished is a draft, named after its process, that nobody else reads; a run appears under its
name whole and synced to the disk. The runs it is made from are only read.

Costs: about 30 ns for each key that is read and written, some hundred KB of memory for each 10,000 of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from resources.frontier.sqlite.key_run import (
    SECTION_BITS,
    SECTIONS,
    Header,
    KeyRun,
    Layout,
    Rows,
    Words,
    run_path,
)

__all__ = ["Merge"]

#: Bytes written between two syncs: each is within a transaction, and is to be short on a slow disk as well.
_SYNC_BYTES = 4 << 20


class Merge:
    """A run in the making: all keys of `sources` and `new` but those whose id is in `dropped`. See `step`."""

    def __init__(
        self, database: Path, number: int, sources: Sequence[KeyRun], new: Rows, dropped: Words, last_id: int
    ) -> None:
        """`dropped` ascending; no id is above `last_id`, and no key twice but for dropped ones."""
        self.number = number
        self.sources = tuple(sources)
        self._path = run_path(database, number)
        self._draft = self._path.with_name(f"{database.name}-keys-draft-{os.getpid()}-{number:016x}")
        self._new, self._dropped = new, dropped
        borders = np.arange(1, SECTIONS, dtype=np.uint64) << (64 - SECTION_BITS)
        self._new_ends = np.append(new.heads.searchsorted(borders), len(new)).astype(np.int64)
        self._ends = sum((source.section_ends() for source in self.sources), self._new_ends)
        self._layout = Layout.of(self.size, last_id)
        self._offsets = {name: at for name, _, _, at in self._layout.columns()}
        self._section = self._written = self._unsynced = self._fullest = 0
        self._file = os.open(self._draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        os.ftruncate(self._file, self._layout.size)

    def __repr__(self) -> str:
        return f"<Merge of {len(self.sources)} runs and {len(self._new):,} keys: {self._written:,} of {self.size:,}>"

    @property
    def size(self) -> int:
        """Keys to read."""
        return int(self._ends[-1])

    @property
    def whole(self) -> bool:
        """All is read and written: it can be finished."""
        return self._section == SECTIONS

    def step(self, keys: int) -> bool:
        """Go on by at least so many keys (at most one section more); True when all is done."""
        if self.whole:
            return True
        begin = self._section
        until = (self._ends[begin - 1] if begin else 0) + max(keys, 1)
        end = int(self._ends.searchsorted(until)) + 1 if until < self.size else SECTIONS
        pieces = [source.rows(begin, end) for source in self.sources]
        here = slice(self._new_ends[begin - 1] if begin else 0, self._new_ends[end - 1])
        pieces.append(Rows(self._new.heads[here], self._new.tails[here], self._new.ids[here]))
        self._write(begin, end, self._merged(pieces))
        self._section = end
        if self._unsynced > _SYNC_BYTES or self.whole:
            os.fdatasync(self._file)
            self._unsynced = 0
        return self.whole

    def _merged(self, pieces: Sequence[Rows]) -> Rows:
        heads = np.concatenate([piece.heads for piece in pieces])
        ids = np.concatenate([piece.ids for piece in pieces])
        # The stable sort finds the pieces in order already, and merges them.
        order = np.argsort(heads, kind="stable")
        if len(self._dropped):
            nearest = self._dropped.take(self._dropped.searchsorted(ids), mode="clip")
            order = order[(nearest != ids)[order]]
        tails = np.concatenate([piece.tails for piece in pieces])
        return Rows(heads.take(order), tails.take(order), ids.take(order))

    def _write(self, begin: int, end: int, rows: Rows) -> None:
        layout = self._layout
        first, last = begin << (layout.bits - SECTION_BITS), end << (layout.bits - SECTION_BITS)
        buckets, prints, lows = layout.split(rows.heads)
        sizes = np.bincount((buckets - first).astype(np.int64), minlength=last - first)
        self._fullest = max(self._fullest, int(sizes.max()))
        ends = (self._written + sizes.cumsum()).astype("<u4")
        if not begin:
            self._put("directory", 0, np.zeros(1, "<u4"))
        self._put("directory", first + 1, ends)
        at = self._written
        self._put("prints", at, prints.astype("<u4", copy=False))
        self._put("lows", at, lows.astype("<u2", copy=False))
        self._put("tails", at, rows.tails.astype("<u8", copy=False))
        self._put("ids", at, rows.ids.astype(f"<u{layout.id_bytes}", copy=False))
        self._written += len(rows)

    def _put(self, column: str, place: int, values: NDArray[np.unsignedinteger]) -> None:
        if not len(values):
            return
        data = values.data.cast("B")
        offset = self._offsets[column] + values.itemsize * place
        self._unsynced += len(data)
        while data:
            done = os.pwrite(self._file, data, offset)
            data, offset = data[done:], offset + done

    # -- the end of it -----------------------------------------------------------------------------
    def finish(self, beneath: Sequence[int]) -> KeyRun:
        """Make it durable under its name. The sources stay, for readers of an older state of the database."""
        run = self._opened(beneath)
        self._draft.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return run

    def finish_unnamed(self) -> KeyRun:
        """As a run that has no file any more: it is there until it is dropped."""
        run = self._opened(())
        self._draft.unlink()
        return run

    def _opened(self, beneath: Sequence[int]) -> KeyRun:
        header = Header(self.number, self._layout, self._written, self._fullest, tuple(beneath))
        os.pwrite(self._file, header.packed(), 0)
        os.fsync(self._file)
        os.close(self._file)
        self._file = -1
        # Opened before it has its name: from then on another process may replace and remove it.
        return KeyRun(self._draft, self.number)

    def abandon(self) -> None:
        """Remove the draft, unless it is finished."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            self._draft.unlink(missing_ok=True)
