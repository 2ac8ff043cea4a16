"""`SqliteFrontier`: the whole contract of `resources.frontier.base` on one SQLite file.

Any number of processes on one machine may have it open; each operation is one transaction (those that may
touch a whole domain: one transaction per few thousand rows). What a kill -9 or a power cut loses: nothing
that `enqueue` or `commit` returned from. What it may lose: leases, which are then PENDING again.

This file is the table of contents; each group of methods is one module of the package:

* `enqueue` adding URLs, `key_index` the dedup behind it; its files beside the database: `key_run` what one holds,
  `key_merge` how it is made, `key_levels` which there are
* `claims` claims and leases, `commit` their end
* `transitions` due again, retried, reconsidered, excluded, forgotten
* `records` whole rows, `fetch_log` the log, `workers` domain leases and signs of life
* `session`, `database`, `domains` what they stand on; `schema.sql` what is on the disk
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from resources.frontier.base import Discovery, EnqueueResult
from resources.frontier.in_parts import FrontierInParts
from resources.frontier.sqlite import claims, commit, fetch_log, records, transitions, workers
from resources.frontier.sqlite.enqueue import add_urls
from resources.frontier.sqlite.session import Session

__all__ = ["SqliteFrontier"]


class SqliteFrontier(FrontierInParts[Session]):
    """See the module docstring. `busy_s`: how long to wait for another process's transaction."""

    #: One machine: the pace of a domain is kept beside this file.
    shared = False

    def __init__(self, path: Path | str, *, busy_s: float | None = None) -> None:
        session = Session(Path(path), busy_s=busy_s)
        super().__init__(session, claims, commit, transitions, records, fetch_log, workers)

    def __repr__(self) -> str:
        return f"<SqliteFrontier {self._storage.database.path}>"

    def enqueue(self, urls: Sequence[Discovery], now: float) -> EnqueueResult:
        with self._storage.write() as writing:
            return add_urls(self._storage, writing, urls, now)[0]

    def close(self) -> None:
        self._storage.keys.close()
        self._storage.database.close()
