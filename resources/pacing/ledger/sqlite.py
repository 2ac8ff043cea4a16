"""The ledger in an SQLite file (WAL), beside the frontier or in a file of its own.

Several processes may open it: the crawl saves rows, the trend sensor sends commands, `top` reads. Each call is
one transaction. The tables are in `sqlite.sql`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, fields
from pathlib import Path

from resources.pacing.ledger.base import Command, LedgerError, LedgerRow, NightRow, merge
from resources.sqlite_file import use_wal

__all__ = ["SqliteLedger"]

_SCHEMA = Path(__file__).with_suffix(".sql")
_NIGHT_COLUMNS = ", ".join(item.name for item in fields(NightRow))
_NIGHT_MARKS = ", ".join("?" for _ in fields(NightRow))
# Another process may hold the write lock for one short transaction at a time.
_BUSY_TIMEOUT_S = 30.0


class SqliteLedger:
    """Rows, nights and commands in the file at `path`; made when missing. May be used by any one thread at a time."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self.path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            use_wal(self._db, _BUSY_TIMEOUT_S)
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_SCHEMA.read_text(encoding="utf-8"))
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(f"cannot open the ledger {self.path}: {error}") from error

    def load(self, domain: str) -> LedgerRow | None:
        with self._named("read"):
            found = self._db.execute("SELECT row FROM pace_ledger WHERE domain = ?", (domain,)).fetchone()
        return LedgerRow.from_json(found[0]) if found else None

    def save(self, rows: Iterable[LedgerRow]) -> None:
        with self._transaction():
            for row in rows:
                found = self._db.execute(
                    "SELECT row FROM pace_ledger WHERE domain = ?", (row.domain,)
                ).fetchone()
                kept = merge(LedgerRow.from_json(found[0]) if found else None, row)
                self._db.execute(
                    "INSERT INTO pace_ledger (domain, updated_at, row) VALUES (?, ?, ?)"
                    " ON CONFLICT (domain) DO UPDATE SET updated_at = excluded.updated_at, row = excluded.row",
                    (kept.domain, kept.updated_at, kept.to_json()),
                )

    def all(self) -> list[LedgerRow]:
        with self._named("read"):
            rows = self._db.execute("SELECT row FROM pace_ledger ORDER BY domain").fetchall()
        return [LedgerRow.from_json(row[0]) for row in rows]

    def history(self, domain: str) -> list[NightRow]:
        with self._named("read"):
            rows = self._db.execute(
                f"SELECT {_NIGHT_COLUMNS} FROM pace_history WHERE domain = ? ORDER BY started_at", (domain,)
            ).fetchall()
        return [NightRow(*row) for row in rows]

    def append_history(self, nights: Iterable[NightRow]) -> None:
        with self._transaction():
            self._db.executemany(
                f"INSERT OR REPLACE INTO pace_history ({_NIGHT_COLUMNS}) VALUES ({_NIGHT_MARKS})",
                [astuple(night) for night in nights],
            )

    def send(self, command: Command) -> int:
        with self._transaction():
            cursor = self._db.execute(
                "INSERT INTO pace_command (domain, kind, at, factor, until, reason) VALUES (?, ?, ?, ?, ?, ?)",
                (command.domain, command.kind, command.at, command.factor, command.until, command.reason),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def commands(self, after: int = 0) -> list[Command]:
        with self._named("read"):
            rows = self._db.execute(
                "SELECT domain, kind, at, factor, until, reason, seq FROM pace_command WHERE seq > ? ORDER BY seq",
                (after,),
            ).fetchall()
        return [Command(*row) for row in rows]

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._named("write"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _named(self, deed: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise LedgerError(f"cannot {deed} the ledger {self.path}: {error}") from error
