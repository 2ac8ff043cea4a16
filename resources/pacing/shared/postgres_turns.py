"""Turns on PostgreSQL: the function of `turn.sql`, called for all domains of a round trip in one statement.

None of it waits for the disk. What a crash of the server forgets (less than a second) may be slots and permits that are
in use: the first turn after a broken connection says so, and nothing new is given for a second.
A worker that stops in mid-statement holds nobody up: the statement runs on the server alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources.pacing.ledger.base import LedgerError
from resources.pacing.shared.exchange import Ask
from resources.shared_postgres.address import Address

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresTurns"]

_SCRIPT = Path(__file__).parent / "turn.sql"
#: Where the slots begin in a reply; the number of them stands before.
_SLOTS = 11
_CALL = "SELECT pace_turn(%s, ask) FROM jsonb_array_elements(%s::jsonb) AS ask"


class PostgresTurns:
    """See `exchange.Turns`. `address`: the ledger's; the tables are beside it."""

    def __init__(self, address: str) -> None:
        self._address = Address.parse(address, LedgerError, beside="_ledger")
        self._connection: psycopg.Connection[Any] | None = None
        #: Domains that were asked about before the connection broke, and not yet after.
        self._cut: set[str] = set()
        self._asked: set[str] = set()

    def take(self, worker: str, asks: Sequence[Ask], offset: float) -> list[list[Any]]:
        import psycopg

        # In one order for all workers: each domain is locked until the statement ends.
        order = sorted(range(len(asks)), key=lambda at: asks[at].domain)
        words = json.dumps([_words(asks[at], offset, asks[at].domain in self._cut) for at in order])
        try:
            if self._connection is None or self._connection.closed:
                self._connection = self._open()
            rows = self._connection.execute(_CALL, (worker, words)).fetchall()
        except psycopg.Error as wrong:
            self._cut |= self._asked
            text = str(wrong).strip().partition("\n")[0]
            raise LedgerError(f"cannot keep the pace at {self._address.shown}: {text}") from wrong
        told = {ask.domain for ask in asks}
        self._asked |= told
        self._cut -= told
        replies: list[list[Any]] = [[] for _ in asks]
        for at, (reply,) in zip(order, rows, strict=True):
            seen = _SLOTS + reply[_SLOTS - 1]
            reply[seen:] = [each.encode() for each in reply[seen:]]
            replies[at] = reply
        return replies

    def _open(self) -> psycopg.Connection[Any]:
        connection = self._address.connect("synchronous_commit=off")
        schema, script = self._address.schema, _SCRIPT.read_text(encoding="utf-8")
        version = hashlib.sha256(script.encode()).hexdigest()
        with connection.transaction():
            # Of several processes that start at once, one creates what is missing and the others wait for it.
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (schema,))
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
            row = connection.execute("SELECT obj_description(to_regclass('pace_state'))").fetchone()
            if row is None or row[0] != version:
                connection.execute(script.encode())
                connection.execute(f"COMMENT ON TABLE pace_state IS '{version}'".encode())
        return connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _words(ask: Ask, offset: float, cut: bool) -> dict[str, Any]:
    told: list[Any] | None = None
    if ask.told is not None:
        rate, cap, gate, state = ask.told
        told = [repr(rate), cap, repr(gate), state]  # JSON has no infinity
    return {
        "domain": ask.domain, "hold": ask.hold, "want": ask.want, "slots": ask.slots, "burst": ask.burst,
        "owed": ask.owed_s, "told": told, "back": [slot + offset for slot in ask.back],
        "seen": [each.decode() for each in ask.seen], "cut": cut, "lost": ask.lost,
    }  # fmt: skip
