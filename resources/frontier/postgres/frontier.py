"""`PostgresFrontier`: the whole contract of `resources.frontier.base` on PostgreSQL 13 or newer.

Any number of processes on any number of machines may have it open; each operation is one transaction (those that
may touch a whole domain: one per few thousand rows). Workers never wait for each other's claims (`SKIP LOCKED`),
only, for a moment, at the counters of a domain and at the end of the log. Several may crawl one domain: they keep one
pace by `pacing.shared`, beside the ledger.

What a kill of the server loses: nothing that `enqueue` or `commit` returned from. What it may lose: leases, which
are then PENDING again.

This file is the table of contents; each group of methods is one module of the package, with its `.sql` beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from resources.frontier.base import Discovery, EnqueueResult
from resources.frontier.in_parts import FrontierInParts
from resources.frontier.postgres import claims, commit, fetch_log, records, transitions, workers
from resources.frontier.postgres.database import Database
from resources.frontier.postgres.enqueue import add_urls

__all__ = ["PostgresFrontier"]


class PostgresFrontier(FrontierInParts[Database]):
    """See the module docstring. `address`: see `resources.shared_postgres.address`."""

    #: Many machines: the pace of a domain is kept on the same server.
    shared = True

    def __init__(self, address: str) -> None:
        super().__init__(Database(address), claims, commit, transitions, records, fetch_log, workers)

    def __repr__(self) -> str:
        return f"<PostgresFrontier {self._storage.shown}>"

    def enqueue(self, urls: Sequence[Discovery], now: float) -> EnqueueResult:
        return self._storage.write(lambda writing: add_urls(self._storage, writing, urls, now)[0])

    def close(self) -> None:
        self._storage.close()
