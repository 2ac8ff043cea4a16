"""From a URL's key to its row: the exact answer to "have we met this URL?", flat up to ten million URLs.

Keys are random, so an index in the database would write one page of its B-tree for every new URL and read one for
every known one, and slow down as it outgrows the cache. Instead, as in the log-structured merge tree (O'Neil et al.
1996), with the `url` table itself as the log:

* `unswept`: keys of the newest rows, in a dict of this process only. It is rebuilt from the rows with an id
  above `sweep.done_to` when the index is first used, and caught up with other processes' new rows at the
  start of each transaction. Nothing of it is ever the only copy.
* the run: one sorted file beside the database (`key_run`) for all rows up to `sweep.done_to`. When `unswept` has
  grown to `SWEEP_AT`, the next run is merged from the old one and from it, a slice per transaction: no pause. Each
  process that adds rows works on a draft of its own; who finishes first commits its run, the others drop theirs.
  Deleted rows stand in `forgotten_key` until the next run is made without them.
* `warm` and `cool`: keys that were lately found to have a row. Two generations: what is asked for again
  stays. A hit is exact, for a key keeps its row until `reset`, which raises `sweep.forgotten` and thereby
  empties these sets in every process.

A crash loses a draft and nothing else. A run that is missing or damaged is made again from the rows.

Costs: about 140 bytes for each of at most 1.5 * SWEEP_AT unswept keys and 100 for each of 2 * WARM_KEYS;
0.1-0.2 us a key that is in memory, 1-2 us one that is looked up in the run, about 1 us a key for its merge.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
from collections.abc import Collection, Sequence
from itertools import filterfalse
from pathlib import Path

from resources.frontier.sqlite.key_run import KeyRun, Merge, Rows, run_path
from resources.frontier.sqlite.statements import in_lists, read_statements

__all__ = ["KeyIndex"]

log = logging.getLogger(__name__)

_SQL = read_statements("key_index.sql")

#: At ten million keys a merge then copies 25 old keys for each new one.
SWEEP_AT = 400_000

#: Keys merged for each new one: 2 ends a merge before half as many new keys as it took in have come.
SWEEP_PACE = 2

#: Per generation. 15 MB; the links that stand on all pages of some hundred domains.
WARM_KEYS = 150_000


class KeyIndex:
    """Keys and row ids of all URLs. Every call belongs to a transaction of the session."""

    def __init__(self, connection: sqlite3.Connection, database: Path) -> None:
        self._connection = connection
        self._database = database
        self._unswept: dict[bytes, int] = {}
        self._warm: set[bytes] = set()
        self._cool: set[bytes] = set()
        self._last_id = -1  # of the rows in `unswept`; -1: not loaded
        self._done_to = self._number = self._forgotten = 0
        self._run: KeyRun | None = None
        self._merge: Merge | None = None
        self._going_to = 0  # of the merge that is going on
        self._buried = False  # there are keys in `forgotten_key`
        self._current = False  # caught up with other processes in this transaction

    def __repr__(self) -> str:
        return (
            f"<KeyIndex {len(self._unswept)} unswept, {len(self._warm) + len(self._cool)} warm, {self._run}>"
        )

    # -- asking ------------------------------------------------------------------------------------
    def unmet(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those keys that have no row."""
        self._catch_up()
        # Most links are known, and most of those from memory: these two filters never enter Python code.
        rest = set(filterfalse(self._unswept.__contains__, filterfalse(self._warm.__contains__, keys)))
        again = rest & self._cool
        rest -= again
        on_disk = self._on_disk(rest).keys()
        self._keep_warm(again | on_disk)
        return rest - on_disk

    def find(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """The row ids of those keys that have a row."""
        self._catch_up()
        unswept = self._unswept
        found = {key: unswept[key] for key in keys if key in unswept}
        found.update(self._on_disk([key for key in keys if key not in found]))
        return found

    def _on_disk(self, keys: Collection[bytes]) -> dict[bytes, int]:
        if self._run is None or not keys:
            return {}
        found = self._run.find(list(keys))
        if self._buried and found:
            for marks, chunk in in_lists(found):
                query = f"SELECT key, id FROM forgotten_key WHERE key IN ({marks})"
                for key, row_id in self._connection.execute(query, chunk).fetchall():
                    if found.get(key) == row_id:
                        del found[key]
        return found

    def _keep_warm(self, keys: set[bytes]) -> None:
        self._warm |= keys
        if len(self._warm) > WARM_KEYS:
            self._warm, self._cool = set(), self._warm

    # -- telling -----------------------------------------------------------------------------------
    def add(self, rows: Sequence[tuple[bytes, int]]) -> None:
        """Remember rows (key, id) that this transaction has written, in order of their ids."""
        if not rows:
            return
        self._catch_up()
        self._unswept.update(rows)
        self._last_id = rows[-1][1]
        self._sweep(SWEEP_PACE * len(rows))

    def forget(self, rows: Sequence[tuple[bytes, int]]) -> None:
        """Rows (key, id) are deleted in this transaction."""
        if not rows:
            return
        self._catch_up()
        self._abandon()
        keys = [key for key, _ in rows]
        for key in keys:
            self._unswept.pop(key, None)
        self._warm.difference_update(keys)
        self._cool.difference_update(keys)
        swept = [row for row in rows if row[1] <= self._done_to]
        if swept:
            self._connection.executemany(_SQL["bury"], swept)
            self._buried = True
        (self._forgotten,) = self._connection.execute(_SQL["forgot"]).fetchone()

    def committed(self) -> None:
        self._current = False

    def rolled_back(self) -> None:
        """What was remembered in this transaction did not happen: read it anew."""
        self._drop()
        self._current = False

    def read(self) -> None:
        """A reading transaction has ended."""
        self._current = False

    def close(self) -> None:
        """Drop the draft of a merge, if there is one."""
        self._abandon()

    # -- staying current ---------------------------------------------------------------------------
    def _drop(self) -> None:
        self._unswept, self._warm, self._cool = {}, set(), set()
        self._last_id = -1
        # What the failed transaction said of the run may be untrue as well: ask again.
        self._number, self._run = 0, None
        self._forgotten = -1
        self._abandon()

    def _abandon(self) -> None:
        if self._merge is not None:
            self._merge.abandon()
            self._merge, self._going_to = None, 0

    def _catch_up(self) -> None:
        """Once a transaction: what did others add, sweep or forget since?"""
        if self._current:
            return
        done_to, number, forgotten = self._connection.execute(_SQL["state"]).fetchone()
        if forgotten != self._forgotten:
            self._drop()
            self._buried = (
                self._connection.execute("SELECT 1 FROM forgotten_key LIMIT 1").fetchone() is not None
            )
        swept_by_another = number != self._number
        self._forgotten, self._done_to, self._number = forgotten, done_to, number
        if swept_by_another:
            self._abandon()
            self._run = self._opened(number)
        if self._last_id < 0:
            self._last_id = done_to
        elif swept_by_another:
            self._shed()
        self._unswept.update(self._connection.execute(_SQL["newer"], (self._last_id,)))
        if self._unswept:
            self._last_id = max(self._last_id, next(reversed(self._unswept.values())))
        self._current = True

    def _shed(self) -> None:
        """Let go of what a sweep has put on the disk."""
        done_to = self._done_to
        swept = [key for key, row_id in self._unswept.items() if row_id <= done_to]
        self._unswept = {key: row_id for key, row_id in self._unswept.items() if row_id > done_to}
        self._last_id = max(self._last_id, done_to)
        # The newest of them are as good a guess as any at what will be asked for next.
        self._cool = set(swept[-WARM_KEYS:])

    # -- the run -----------------------------------------------------------------------------------
    def _opened(self, number: int) -> KeyRun | None:
        """Numbered cases: 1. there is none yet; 2. it is there and whole; 3. it has to be made again."""
        if not number:
            return None
        path = run_path(self._database, number)
        try:
            return KeyRun(path, number)
        except (FileNotFoundError, ValueError) as error:
            log.warning("%s; it is made again from the rows of %s", error, self._database)
            return self._made_again(number)

    def _made_again(self, number: int) -> KeyRun:
        """All rows up to `done_to`, as many at a time as a sweep takes: memory stays what it is."""
        (done_to, _, _) = self._connection.execute(_SQL["state"]).fetchone()
        run: KeyRun | None = None
        last = 0
        nothing = Rows.of([], [])
        while True:
            rows = self._connection.execute(_SQL["rows_up_to"], (last, done_to, SWEEP_AT)).fetchall()
            ended = len(rows) < SWEEP_AT
            last = rows[-1][1] if rows else last
            chunk = Rows.of([key for key, _ in rows], [row_id for _, row_id in rows])
            merge = Merge(self._database, number if ended else secrets.randbits(63), run, chunk, nothing)
            while not merge.step(0.1):
                pass
            before, run = run, merge.finish()
            if before is not None:
                before.path.unlink(missing_ok=True)
            if ended:
                return run

    def _sweep(self, pace: int) -> None:
        """Go on with the merge, if one is going on or due."""
        if self._merge is None:
            if len(self._unswept) < SWEEP_AT:
                return
            self._begin()
        merge = self._merge
        assert merge is not None  # begun above
        if not merge.step(pace / SWEEP_AT):
            return
        before, self._run = self._run, merge.finish()
        self._number, self._done_to = merge.number, self._going_to
        self._connection.execute(_SQL["done"], (self._done_to, self._number))
        if self._buried:
            self._connection.execute("DELETE FROM forgotten_key")
            self._buried = False
        self._merge, self._going_to = None, 0
        self._shed()
        self._clean({self._number, before.number if before is not None else 0})

    def _begin(self) -> None:
        unswept = self._unswept
        buried = self._connection.execute(_SQL["buried"]).fetchall() if self._buried else []
        dropped = Rows.of([key for key, _ in buried], [row_id for _, row_id in buried])
        self._going_to = self._last_id
        rows = Rows.of(list(unswept), list(unswept.values()))
        self._merge = Merge(self._database, secrets.randbits(63) | 1, self._run, rows, dropped)

    def _clean(self, keep: Collection[int]) -> None:
        """Remove runs that no transaction can need any more, and drafts whose process has ended."""
        kept = {run_path(self._database, number) for number in keep}
        prefix = f"{self._database.name}-keys-"
        for path in self._database.parent.glob(f"{prefix}*"):
            word = path.name.removeprefix(prefix).split("-")
            needed = _alive(int(word[1])) if word[0] == "draft" else path in kept
            if not needed:
                path.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
