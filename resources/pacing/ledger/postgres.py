"""The ledger in PostgreSQL, beside a frontier that is kept there: one place for the workers of all machines.

The address is the frontier's; the tables are in `postgres.sql`, in the schema `<schema>_ledger`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, astuple, fields
from pathlib import Path
from typing import Any, TypeVar

from resources.pacing.ledger.base import Command, LedgerError, LedgerRow, NightRow, merge
from resources.shared_postgres.address import Address

__all__ = ["PostgresLedger"]

T = TypeVar("T")

_TABLES = Path(__file__).with_suffix(".sql")


class PostgresLedger:
    """Rows, nights and commands. A connection that was cut is opened again."""

    def __init__(self, address: str) -> None:
        self._address = Address.parse(address, LedgerError, beside="_ledger")
        self._schema, self._shown = self._address.schema, self._address.shown
        import psycopg

        self._api = psycopg
        self._connection: psycopg.Connection[Any] | None = None
        self._run(self._prepare)

    def __repr__(self) -> str:
        return f"<PostgresLedger {self._shown} {self._schema}>"

    def _prepare(self, connection: Any) -> None:
        # Of several processes that start at once, one creates the tables and the others wait for it.
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (self._schema,))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
        connection.execute(_TABLES.read_text(encoding="utf-8"))

    def _run(self, work: Callable[[Any], T], *, again: bool = True) -> T:
        """`work` in one transaction, over a new connection if the old one turns out to be cut.

        `again`: it may be done twice, which happens when the answer of a commit got lost.
        """
        kept = self._connection is not None and not self._connection.closed
        try:
            if self._connection is None or self._connection.closed:
                self._connection = self._address.connect()
            with self._connection.transaction():
                return work(self._connection)
        except self._api.Error as wrong:
            if kept and again and self._connection is not None and self._connection.closed:
                return self._run(work, again=False)
            words = str(wrong).strip().partition("\n")[0]
            raise LedgerError(f"cannot use the ledger {self._shown}: {words}") from wrong

    def load(self, domain: str) -> LedgerRow | None:
        found = self._run(
            lambda db: db.execute("SELECT row::text FROM pace_ledger WHERE domain = %s", (domain,)).fetchone()
        )
        return LedgerRow.from_json(found[0]) if found else None

    def save(self, rows: Iterable[LedgerRow]) -> None:
        new = sorted(rows, key=lambda row: row.domain)

        def work(db: Any) -> None:
            for row in new:
                # The row is there before it is locked: two workers that write the first one merge as well.
                db.execute(
                    "INSERT INTO pace_ledger VALUES (%s, %s) ON CONFLICT DO NOTHING",
                    (row.domain, row.to_json()),
                )
                (found,) = db.execute(
                    "SELECT row::text FROM pace_ledger WHERE domain = %s FOR UPDATE", (row.domain,)
                ).fetchone()
                kept = merge(LedgerRow.from_json(found), row)
                db.execute("UPDATE pace_ledger SET row = %s WHERE domain = %s", (kept.to_json(), row.domain))

        self._run(work)

    def all(self) -> list[LedgerRow]:
        rows = self._run(lambda db: db.execute("SELECT row::text FROM pace_ledger").fetchall())
        return sorted((LedgerRow.from_json(row[0]) for row in rows), key=lambda row: row.domain)

    def history(self, domain: str) -> list[NightRow]:
        rows = self._run(
            lambda db: db.execute(
                "SELECT row::text FROM pace_history WHERE domain = %s ORDER BY started_at", (domain,)
            ).fetchall()
        )
        width = len(fields(NightRow))
        return [NightRow(*json.loads(row[0])[:width]) for row in rows]

    def append_history(self, nights: Iterable[NightRow]) -> None:
        values = [
            (night.domain, night.night, night.started_at, json.dumps(astuple(night))) for night in nights
        ]
        self._run(
            lambda db: db.cursor().executemany(
                "INSERT INTO pace_history VALUES (%s, %s, %s, %s) ON CONFLICT (domain, night)"
                " DO UPDATE SET started_at = excluded.started_at, row = excluded.row",
                values,
            )
        )

    def send(self, command: Command) -> int:
        words = {name: value for name, value in asdict(command).items() if name != "seq"}

        def work(db: Any) -> int:
            # One at a time: numbers become visible in their order.
            db.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (self._schema + ":commands",))
            row = db.execute(
                "INSERT INTO pace_command (command) VALUES (%s) RETURNING seq", (json.dumps(words),)
            ).fetchone()
            return int(row[0])

        return self._run(work, again=False)

    def commands(self, after: int = 0) -> list[Command]:
        rows = self._run(
            lambda db: db.execute(
                "SELECT seq, command::text FROM pace_command WHERE seq > %s ORDER BY seq", (after,)
            ).fetchall()
        )
        return [Command(**json.loads(text), seq=seq) for seq, text in rows]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
