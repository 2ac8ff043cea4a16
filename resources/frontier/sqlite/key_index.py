"""From a URL's key to its row: the exact answer to "have we met this URL?", flat up to ten million URLs.

Keys are random, so a plain index would write one page of its B-tree for every new URL, and slow down as it
outgrows the cache. Instead, as in the log-structured merge tree (O'Neil et al. 1996), with the `url` table
itself as the log:

* `unswept`: keys of the newest rows, in a dict of this process only. It is rebuilt from the rows with an id
  above `sweep.done_to` when the index is first used, and caught up with other processes' new rows at the
  start of each transaction. Nothing of it is ever the only copy.
* `url_key`: the B-tree on disk, for all rows up to `sweep.done_to`. When `unswept` has grown to `SWEEP_AT`,
  its rows are inserted in key order, so that neighbours share a page. The sweep goes on a slice per
  transaction (any process does the next one) and is committed with it: no pause, nothing to redo.
* `warm` and `cool`: keys that were lately found to have a row. Two generations: what is asked for again
  stays. A hit is exact, for a key keeps its row until `reset`, which raises `sweep.forgotten` and thereby
  empties these sets in every process.

Costs: about 140 bytes for each of at most 1.5 * SWEEP_AT unswept keys and 100 for each of 2 * WARM_KEYS;
0.1-0.2 us a key that is in memory, 3-5 us one that is looked up on disk, about 5 us a key for its sweep.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import filterfalse

from resources.frontier.sqlite.statements import in_lists, read_statements

__all__ = ["KeyIndex"]

_SQL = read_statements("key_index.sql")

#: At ten million keys a leaf page of the B-tree then takes in five keys per sweep, for one write.
SWEEP_AT = 400_000

#: Keys swept for each new one: 2 ends a sweep before half as many new keys as it took in have come.
SWEEP_PACE = 2

#: Per generation. 15 MB; the links that stand on all pages of some hundred domains.
WARM_KEYS = 150_000


class KeyIndex:
    """Keys and row ids of all URLs. Every call belongs to a transaction of the session."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._unswept: dict[bytes, int] = {}
        self._warm: set[bytes] = set()
        self._cool: set[bytes] = set()
        self._last_id = -1  # of the rows in `unswept`; -1: not loaded
        self._done_to = self._going_to = self._forgotten = 0
        self._sorted: list[bytes] = []  # the keys of the sweep that is going on
        self._current = False  # caught up with other processes in this transaction

    def __repr__(self) -> str:
        return f"<KeyIndex {len(self._unswept)} unswept, {len(self._warm) + len(self._cool)} warm>"

    # -- asking ------------------------------------------------------------------------------------
    def unmet(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those keys that have no row."""
        self._catch_up()
        # Most links are known, and most of those from memory: these two filters never enter Python code.
        rest = set(filterfalse(self._unswept.__contains__, filterfalse(self._warm.__contains__, keys)))
        again = rest & self._cool
        rest -= again
        on_disk = {key for key, _ in self._on_disk(rest)}
        self._keep_warm(again | on_disk)
        return rest - on_disk

    def find(self, keys: Collection[bytes]) -> dict[bytes, int]:
        """The row ids of those keys that have a row."""
        self._catch_up()
        unswept = self._unswept
        found = {key: unswept[key] for key in keys if key in unswept}
        found.update(self._on_disk([key for key in keys if key not in found]))
        return found

    def _on_disk(self, keys: Collection[bytes]) -> Iterator[tuple[bytes, int]]:
        if not self._done_to and not self._going_to:
            return  # nothing has been swept yet
        for marks, chunk in in_lists(keys):
            yield from self._connection.execute(f"SELECT key, id FROM url_key WHERE key IN ({marks})", chunk)

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
        keys = [key for key, _ in rows]
        for key in keys:
            self._unswept.pop(key, None)
        self._warm.difference_update(keys)
        self._cool.difference_update(keys)
        self._sorted = []
        self._connection.executemany("DELETE FROM url_key WHERE key = ?", [(key,) for key in keys])
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

    # -- staying current ---------------------------------------------------------------------------
    def _drop(self) -> None:
        self._unswept, self._warm, self._cool, self._sorted = {}, set(), set(), []
        self._last_id = -1

    def _catch_up(self) -> None:
        """Once a transaction: what did others add, sweep or forget since?"""
        if self._current:
            return
        done_to, going_to, forgotten = self._connection.execute(_SQL["state"]).fetchone()
        if forgotten != self._forgotten:
            self._drop()
        if (done_to, going_to) != (self._done_to, self._going_to):
            self._sorted = []
        swept_by_another = done_to != self._done_to
        self._forgotten, self._done_to, self._going_to = forgotten, done_to, going_to
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

    # -- sweeping ----------------------------------------------------------------------------------
    def _sweep(self, pace: int) -> None:
        """Put the next `pace` keys on the disk, if a sweep is going on or due."""
        if not self._going_to:
            if len(self._unswept) < SWEEP_AT:
                return
            self._going_to = self._last_id
            self._connection.execute(_SQL["begin"], (self._going_to,))
        if not self._sorted:
            going_to = self._going_to
            self._sorted = sorted(key for key, row_id in self._unswept.items() if row_id <= going_to)
        (after,) = self._connection.execute("SELECT after FROM sweep").fetchone()
        start = 0 if after is None else bisect_right(self._sorted, after)
        chunk = self._sorted[start : start + pace]
        unswept = self._unswept
        self._connection.executemany(
            "INSERT INTO url_key (key, id) VALUES (?, ?)", [(key, unswept[key]) for key in chunk]
        )
        if start + pace < len(self._sorted):
            self._connection.execute("UPDATE sweep SET after = ?", (chunk[-1],))
            return
        self._connection.execute(_SQL["end"])
        self._done_to, self._going_to, self._sorted = self._going_to, 0, []
        self._shed()
