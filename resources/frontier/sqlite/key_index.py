"""From a URL's key to its row: the exact answer to "have we met this URL?", flat up to ten million URLs.

Keys are random, so an index in the database would write one page of its B-tree for every new URL and read one for
every known one, and slow down as it outgrows the cache. Instead, as in the log-structured merge tree (O'Neil et al.
1996), with the `url` table itself as the log:

* `unswept`: keys of the newest rows, in a dict of this process only. It is rebuilt from the rows with an id
  above `sweep.done_to` when the index is first used, and caught up with other processes' new rows at the
  start of each transaction. Nothing of it is ever the only copy.
* the runs: sorted files beside the database (`key_run`) for all rows up to `sweep.done_to`: a large one, and small
  ones above it (`key_levels`). When `unswept` has grown, the next small run is merged from it, a piece per
  transaction; meanwhile, and until the next one begins, what it takes stays in memory as sorted columns. Deleted rows
  stand in `forgotten_key` until runs are made without them.
* `warm` and `cool`: keys that were lately found to have a row. Two generations: what is asked for again
  stays. A hit is exact, for a key keeps its row until `reset`, which raises `sweep.forgotten` and thereby
  empties these sets in every process.

A crash loses the draft of a run and nothing else. Runs that are missing or damaged are made again from the rows.

Costs: about 140 bytes for each of up to 64,000 unswept keys, 24 for each of the 64,000 swept last, 100 for each of
WARM_KEYS, and 14.4 of mapped memory for each that is in a run; 0.1-0.2 us a key that is in memory, 0.3 us more one that
is looked up in the runs, and for each new one at ten million the copying of 18 others, some 0.5 us.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from itertools import filterfalse
from pathlib import Path

from resources.frontier.sqlite.key_levels import KeyLevels
from resources.frontier.sqlite.statements import in_lists, read_statements

__all__ = ["KeyIndex"]

_SQL = read_statements("key_index.sql")

#: Per generation. 10 MB; the links that stand on all pages of some hundred domains.
WARM_KEYS = 100_000


class KeyIndex:
    """Keys and row ids of all URLs. Every call belongs to a transaction of the session."""

    def __init__(self, connection: sqlite3.Connection, database: Path) -> None:
        self._connection = connection
        self._levels = KeyLevels(connection, database)
        self._unswept: dict[bytes, int] = {}
        self._warm: set[bytes] = set()
        self._cool: set[bytes] = set()
        self._last_id = -1  # of the rows in these two; -1: not loaded
        self._done_to = self._number = self._forgotten = 0
        self._buried = False  # there are keys in `forgotten_key`
        self._current = False  # caught up with other processes in this transaction

    def __repr__(self) -> str:
        warm = len(self._warm) + len(self._cool)
        return f"<KeyIndex {len(self._unswept):,} unswept, {warm:,} warm, {self._levels}>"

    # -- asking ------------------------------------------------------------------------------------
    def unmet(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those keys that have no row."""
        self._catch_up()
        # Most links are known, and most of those from memory: these filters never enter Python code.
        cold = filterfalse(self._warm.__contains__, keys)
        rest = set(filterfalse(self._unswept.__contains__, cold))
        again = rest & self._cool
        rest -= again
        missing = self._not_on_disk(rest) if rest else rest
        self._keep_warm(again | (rest - missing))
        return missing

    def find(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """The row ids of those keys that have a row."""
        self._catch_up()
        unswept = self._unswept
        found = {key: unswept[key] for key in keys if key in unswept}
        found.update(self._on_disk([key for key in keys if key not in found]))
        return found

    def _not_on_disk(self, keys: set[bytes]) -> set[bytes]:
        return keys - self._on_disk(list(keys)).keys() if self._buried else self._levels.missing(list(keys))

    def _on_disk(self, keys: list[bytes]) -> dict[bytes, int]:
        found = self._levels.find(keys) if keys else {}
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
        self._sweep(len(rows))

    def forget(self, rows: Sequence[tuple[bytes, int]]) -> None:
        """Rows (key, id) are deleted in this transaction."""
        if not rows:
            return
        self._catch_up()
        self._stop_sweeping()
        keys = [key for key, _ in rows]
        for key in keys:
            self._unswept.pop(key, None)
        self._warm.difference_update(keys)
        self._cool = set()
        swept = [row for row in rows if row[1] <= self._done_to]
        if swept:
            self._connection.executemany(_SQL["bury"], swept)
            self._buried = True
        (self._forgotten,) = self._connection.execute(_SQL["forgot"]).fetchone()

    def committed(self) -> None:
        self._levels.committed()
        self._current = False

    def rolled_back(self) -> None:
        """What was remembered in this transaction did not happen: read it anew."""
        self._drop()
        self._current = False

    def read(self) -> None:
        """A reading transaction has ended."""
        self._current = False

    def close(self) -> None:
        """Drop the drafts of runs, if there are any."""
        self._levels.abandon()

    # -- staying current ---------------------------------------------------------------------------
    def _drop(self) -> None:
        self._unswept, self._warm, self._cool = {}, set(), set()
        self._last_id = -1
        # What the failed transaction said of the runs may be untrue as well: ask again.
        self._number, self._forgotten = -1, -1
        self._levels.abandon()

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
            # Its sweep went to another row than the one going on here.
            self._unswept = self._levels.unfinished() | self._unswept
            self._levels.follow(number, done_to)
        if self._last_id < 0:
            self._last_id = done_to
        elif swept_by_another:
            self._shed()
        self._unswept.update(self._connection.execute(_SQL["newer"], (self._last_id,)))
        if self._unswept:
            self._last_id = max(self._last_id, next(reversed(self._unswept.values())))
        self._current = True

    def _shed(self) -> None:
        """Let go of what another process has swept."""
        done_to, every = self._done_to, self._unswept.items()
        swept = [key for key, row_id in every if row_id <= done_to]
        # The newest of those are as good a guess as any at what will be asked for next.
        self._cool = set(swept[-WARM_KEYS:])
        self._unswept = {key: row_id for key, row_id in every if row_id > done_to}
        self._last_id = max(self._last_id, done_to)

    # -- sweeping ----------------------------------------------------------------------------------
    def _sweep(self, added: int) -> None:
        """Go on with merges, as far as so many new keys pay for."""
        if self._levels.due(len(self._unswept)):
            self._levels.begin(self._unswept, self._last_id, forgotten=self._buried)
            self._unswept = {}
        done_to = self._levels.advance(added, self._last_id, forgotten=self._buried)
        if done_to is None:
            return
        self._number, self._done_to = self._levels.number, done_to
        self._connection.execute(_SQL["done"], (done_to, self._number))
        if self._buried:
            # Whatever goes on while rows are forgotten is a merge without them.
            self._connection.execute("DELETE FROM forgotten_key")
            self._buried = False

    def _stop_sweeping(self) -> None:
        self._unswept = self._levels.unfinished() | self._unswept
        self._levels.abandon()
