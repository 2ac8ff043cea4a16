"""Domain names as small integers, and the counters of each domain.

Guarantee: the counters change in the transaction that moves the rows, never outside it.
Costs: a name is looked up once and then remembered, up to `NAMES_KEPT` names.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict

from resources.frontier.base import State, StateCounts

__all__ = ["Domains", "Moves"]

#: About 20 MB; a crawl of more domains than this asks the database again for some.
NAMES_KEPT = 131_072

_ADD = "UPDATE domain SET pending=pending+?, leased=leased+?, done=done+?, failed=failed+?, excluded=excluded+? WHERE id=?"
_COUNTS = "SELECT pending, leased, done, failed, excluded FROM domain WHERE name = ?"
_ALL = "SELECT name, pending, leased, done, failed, excluded FROM domain WHERE pending+leased+done+failed+excluded > 0"


class Moves:
    """How the counters change by the end of a transaction."""

    __slots__ = ("_by_domain",)

    def __init__(self) -> None:
        self._by_domain: defaultdict[int, list[int]] = defaultdict(lambda: [0] * len(State))

    def add(self, domain_id: int, state: State, count: int = 1) -> None:
        """`count` rows came into being (or, if negative, ceased to be) in `state`."""
        self._by_domain[domain_id][state] += count

    def move(self, domain_id: int, old: State, new: State, count: int = 1) -> None:
        """`count` rows went from one state to another."""
        counters = self._by_domain[domain_id]
        counters[old] -= count
        counters[new] += count

    def write(self, connection: sqlite3.Connection) -> None:
        rows = [(*counters, domain_id) for domain_id, counters in self._by_domain.items()]
        connection.executemany(_ADD, rows)


class Domains:
    """Names and ids of domains, remembered between transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ids: dict[str, int] = {}

    def find(self, name: str) -> int | None:
        """The id of a domain that has been met, else None."""
        known = self._ids.get(name)
        if known is not None:
            return known
        row = self._connection.execute("SELECT id FROM domain WHERE name = ?", (name,)).fetchone()
        return None if row is None else self._keep(name, row[0])

    def intern(self, name: str) -> int:
        """The id of a domain, given now if need be. Within a write transaction."""
        known = self.find(name)
        if known is not None:
            return known
        cursor = self._connection.execute("INSERT INTO domain (name) VALUES (?)", (name,))
        assert cursor.lastrowid is not None  # an INSERT into a rowid table sets it
        return self._keep(name, cursor.lastrowid)

    def _keep(self, name: str, domain_id: int) -> int:
        if len(self._ids) >= NAMES_KEPT:
            self._ids.clear()
        self._ids[name] = domain_id
        return domain_id

    def rolled_back(self) -> None:
        """Ids given in the transaction that just failed do not exist."""
        self._ids.clear()

    def counts(self, name: str) -> StateCounts:
        row = self._connection.execute(_COUNTS, (name,)).fetchone()
        return StateCounts(*row) if row else StateCounts()

    def all_counts(self) -> dict[str, StateCounts]:
        return {name: StateCounts(*numbers) for name, *numbers in self._connection.execute(_ALL)}
