"""The runs of a frontier, largest first, and when they are merged: a log-structured merge tree with two levels.

* New keys go into the small run on top: it is merged with `SWEEP_AT` of them at a time, until it has `FULL_AT` keys.
  Then the next small run is begun above it.
* As soon as there are two full runs, they are merged into the next large one. Ten million old keys are thus copied
  once for 800,000 new ones, while the small run above them fills.

Both go on beside each other, a piece for each new key: no pause. Each process that adds rows works on drafts of its
own; who finishes first commits its run, the others drop theirs. The one number in the database is that of the run on
top, and the head of its file names those beneath: they change in one step. So a large run that is finished waits for
the next small one to be committed.

While rows stand in `forgotten_key`, the next merge takes all runs, and leaves those rows out.

A crash loses drafts and nothing else. Runs that are missing or damaged are made again from the rows, as one.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np

from resources.frontier.sqlite.key_merge import Merge
from resources.frontier.sqlite.key_run import KeyRun, OldFormat, Rows, Words, halves, run_path
from resources.frontier.sqlite.statements import read_statements

__all__ = ["KeyLevels"]

log = logging.getLogger(__name__)

_SQL = read_statements("key_index.sql")

#: Unswept keys from which the small run is made anew: it then copies 6 keys for each new one on the average.
SWEEP_AT = 64_000

#: Keys from which a run is no longer added to: at ten million the large one then copies 12 for each new one.
FULL_AT = 800_000

#: A merge is to end when so many of the keys have come after which the next one is due.
_SPREAD = 0.8

#: One that leaves out forgotten rows takes longer, for it copies everything: as many keys as six sweeps.
_SPREAD_OF_ALL = 6.0

#: A sweep that a large run waits for ends in this share of that time: it is all that its process may have.
_HURRY = 0.125

#: Keys copied at once, if so many are due: half a millisecond of work, against a tenth for coming to it.
_PIECE = 16_384

#: Rows read at a time when runs are made again.
_ROWS_READ = 50_000

_NOTHING = np.empty(0, np.uint64)
_NO_ROWS = Rows(_NOTHING, _NOTHING, _NOTHING)


@dataclass(slots=True)
class _Going:
    """A merge that is going on: `pace` keys are copied for each new one, in pieces. `last_id`: of what goes into it."""

    merge: Merge
    last_id: int
    pace: float
    owed: float = 0.0

    def advance(self, added: int) -> bool:
        """So many keys are new; True when all is done."""
        self.owed += added * self.pace
        if self.owed >= min(_PIECE, self.merge.size):
            self.merge.step(int(self.owed))
            self.owed = 0.0
        return self.merge.whole


class KeyLevels:
    """The runs of one database. Every call belongs to a transaction of the session."""

    def __init__(self, connection: sqlite3.Connection, database: Path) -> None:
        self._connection = connection
        self._database = database
        self._runs: tuple[KeyRun, ...] = ()
        self._committed: tuple[KeyRun, ...] = ()  # the runs when the last transaction ended
        self._sweep: _Going | None = None
        self._large: _Going | None = None
        # What goes into the sweep, and after it what went into the last one: new URLs are linked most.
        self._newest = _NO_ROWS

    def __repr__(self) -> str:
        return f"<KeyLevels {', '.join(map(repr, self._runs))}; {len(self._newest):,} in memory>"

    # -- asking ------------------------------------------------------------------------------------
    def missing(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those keys that are in no run and not in the sweep."""
        rest = keys
        heads, tails = halves(keys)
        parts: tuple[Rows | KeyRun, ...] = (self._newest, *self._runs)
        for part in parts:
            if not len(rest):
                break
            absent = ~part.places(heads, tails)[1]
            rest = list(compress(rest, absent.tolist()))
            heads, tails = heads[absent], tails[absent]
        return set(rest)

    def find(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """The row ids of those keys that are in a run or in the sweep; the row of a forgotten key may be gone."""
        found: dict[bytes, int] = {}
        heads, tails = halves(keys)
        # The newest last: a key that was forgotten and met again has its old row in a run.
        parts: tuple[Rows | KeyRun, ...] = (*self._runs, self._newest)
        for part in parts:
            at, there = part.places(heads, tails)
            found.update(zip(compress(keys, there.tolist()), part.ids_at(at[there]), strict=True))
        return found

    def unfinished(self) -> dict[bytes, int]:
        """The keys of the sweep that is going on, with their ids and in order of these: they are in no run yet."""
        return self._newest.by_id() if self._sweep is not None else {}

    # -- which runs there are ----------------------------------------------------------------------
    def follow(self, number: int, done_to: int) -> None:
        """The run on top is the one with this number now (0: there is none), and holds the rows up to `done_to`."""
        self._drop_sweep()
        open_ones = {run.number: run for run in self._runs}
        self._runs = self._opened(number, done_to, open_ones) if number else ()
        self._committed = self._runs
        if self._large is not None:
            sources = self._large.merge.sources
            if sources != self._runs[: len(sources)]:
                self._drop_large()

    def _opened(self, number: int, done_to: int, open_ones: Mapping[int, KeyRun]) -> tuple[KeyRun, ...]:
        """Numbered cases: 1. all are there and whole; 2. written by an earlier release; 3. missing or damaged."""

        def run_of(each: int) -> KeyRun:
            return open_ones.get(each) or KeyRun(run_path(self._database, each), each)

        try:
            top = run_of(number)
            return (*(run_of(each) for each in top.header.beneath), top)
        except OldFormat as error:
            log.info("%s; it is made again from the rows of %s", error, self._database)
        except (FileNotFoundError, ValueError) as error:
            log.warning("%s; it is made again from the rows of %s", error, self._database)
        return (self._made_again(number, done_to),)

    def _made_again(self, number: int, done_to: int) -> KeyRun:
        """One run of all rows up to `done_to`, from parts of `FULL_AT` rows: memory stays what it is."""
        parts: list[KeyRun] = []
        last = 0
        while True:
            rows, last = self._rows_after(last, done_to)
            ended = len(rows) < FULL_AT
            whole = Merge(
                self._database, number if ended else secrets.randbits(63), parts if ended else (), rows,
                _NOTHING, done_to,
            )  # fmt: skip
            while not whole.step(_ROWS_READ):
                pass
            if ended:
                return whole.finish(())
            parts.append(whole.finish_unnamed())

    def _rows_after(self, last: int, done_to: int) -> tuple[Rows, int]:
        """At most `FULL_AT` rows with an id above `last`, and the highest id among them."""
        columns: list[tuple[Words, Words, Words]] = []
        cursor = self._connection.execute(_SQL["rows_up_to"], (last, done_to, FULL_AT))
        while rows := cursor.fetchmany(_ROWS_READ):
            ids = np.array([row_id for _, row_id in rows], np.uint64)
            columns.append((*halves([key for key, _ in rows]), ids))
            last = rows[-1][1]
        if not columns:
            return Rows.of([], []), last
        heads, tails, ids = (np.concatenate(column) for column in zip(*columns, strict=True))
        order = np.argsort(heads)
        return Rows(heads[order], tails[order], ids[order]), last

    # -- merging -----------------------------------------------------------------------------------
    def due(self, unswept: int) -> bool:
        """With so many unswept keys a sweep is to begin; or with fewer, for a large run waits to be committed with it."""
        return self._sweep is None and (unswept >= SWEEP_AT or self._large_waits)

    @property
    def _large_waits(self) -> bool:
        return self._large is not None and self._large.merge.whole

    def begin(self, unswept: Mapping[bytes, int], last_id: int, *, forgotten: bool) -> None:
        """Begin to sweep these keys, of rows up to `last_id`. `forgotten`: rows stand in `forgotten_key`.

        Numbered cases: 1. rows are forgotten: all runs; 2. the run on top is not full; 3. it is, or there is none.
        """
        dropped = _NOTHING
        sources: tuple[KeyRun, ...] = ()
        if forgotten:
            self._drop_large()
            sources = self._runs
            ids = self._connection.execute(_SQL["buried"])
            dropped = np.fromiter((row_id for (row_id,) in ids), np.uint64)
        elif self._runs and len(self._runs[-1]) < FULL_AT:
            sources = self._runs[-1:]
        rows = self._newest = Rows.of(list(unswept), list(unswept.values()))
        merge = Merge(self._database, _new_number(), sources, rows, dropped, last_id)
        # Processes that do not live long leave more than one sweep behind: the more there is, the faster.
        spread = (_SPREAD_OF_ALL if forgotten else _SPREAD) * SWEEP_AT * min(SWEEP_AT / len(unswept), 1)
        if self._large_waits:
            spread *= _HURRY
        self._sweep = _Going(merge, last_id, merge.size / spread)

    def advance(self, added: int, last_id: int, *, forgotten: bool) -> int | None:
        """Go on with merges for so many keys that were added, of rows up to `last_id`. `forgotten`: see `begin`.

        Returns the last row whose key is in a run from now on if the sweep has ended. The run on top, `number`, is
        another one then.
        """
        if self._large is None and not forgotten:
            self._begin_large(last_id)
        if self._large is not None:
            self._large.advance(added)
        sweep = self._sweep
        if sweep is None or not sweep.advance(added):
            return None
        self._finish(sweep)
        return sweep.last_id

    @property
    def number(self) -> int:
        """Of the run on top; 0: there is none."""
        return self._runs[-1].number if self._runs else 0

    def _finish(self, sweep: _Going) -> None:
        kept = self._runs[: len(self._runs) - len(sweep.merge.sources)]
        if self._large is not None and self._large.merge.whole:
            large = self._large.merge
            kept = (large.finish(()), *kept[len(large.sources) :])
            self._large = None
        top = sweep.merge.finish([run.number for run in kept])
        self._runs, self._sweep = (*kept, top), None

    def _begin_large(self, last_id: int) -> None:
        """If there are two full runs: all that stand beneath another one are full."""
        full = self._runs[:-1] if self._runs and len(self._runs[-1]) < FULL_AT else self._runs
        if len(full) < 2:
            return
        merge = Merge(self._database, _new_number(), full, Rows.of([], []), _NOTHING, last_id)
        # More than two are left by processes that did not live to finish this: then it has to be faster.
        self._large = _Going(merge, last_id, merge.size * (len(full) - 1) ** 2 / (_SPREAD * FULL_AT))

    def committed(self) -> None:
        """The transaction has been committed: the runs before the last ones are nobody's any more."""
        if self._runs is not self._committed:
            self._clean({run.number for run in (*self._committed, *self._runs)})
            self._committed = self._runs

    def abandon(self) -> None:
        """Drop the drafts, if there are any."""
        self._drop_sweep()
        self._drop_large()

    def _drop_sweep(self) -> None:
        self._newest = _NO_ROWS
        if self._sweep is not None:
            self._sweep.merge.abandon()
            self._sweep = None

    def _drop_large(self) -> None:
        if self._large is not None:
            self._large.merge.abandon()
            self._large = None

    def _clean(self, keep: Collection[int]) -> None:
        """Remove runs that no transaction can need any more, and drafts whose process has ended."""
        kept = {run_path(self._database, number) for number in keep}
        prefix = f"{self._database.name}-keys-"
        for path in self._database.parent.glob(f"{prefix}*"):
            word = path.name.removeprefix(prefix).split("-")
            needed = _alive(int(word[1])) if word[0] == "draft" else path in kept
            if not needed:
                path.unlink(missing_ok=True)


def _new_number() -> int:
    return secrets.randbits(63) | 1


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
