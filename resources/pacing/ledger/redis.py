"""The ledger on Redis, beside a shared frontier: one place for the workers of all machines.

Keys, all of the installation's slot: `rows` (hash, a JSON row a domain), `nights:<domain>` (hash), `commands`
(sorted set by number) and `commands:number`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, astuple, fields
from pathlib import Path

from resources.pacing.ledger.base import Command, LedgerError, LedgerRow, NightRow, merge
from resources.shared_redis.connection import Connection
from resources.shared_redis.scripts import read_script

__all__ = ["RedisLedger"]

_LUA = Path(__file__).parent / "lua"
_SWAP = read_script(_LUA / "swap_rows.lua")
_SEND = read_script(_LUA / "send_command.lua")


class RedisLedger:
    """Rows, nights and commands on the server at `address`. May be used by any one thread at a time."""

    def __init__(self, address: str) -> None:
        self._connection = Connection(address, [_SWAP, _SEND], LedgerError, LedgerError)

    def __repr__(self) -> str:
        return f"<RedisLedger {self._connection.address.shown}>"

    @property
    def trips(self) -> int:
        """Round trips to the server so far."""
        return self._connection.trips

    def _key(self, part: str) -> bytes:
        namespace = self._connection.namespace
        return b"%s:{%s}:ledger:%s" % (namespace, namespace, part.encode("utf-8", "surrogatepass"))

    def load(self, domain: str) -> LedgerRow | None:
        raw: bytes | None = self._connection.one("HGET", self._key("rows"), domain)
        return None if raw is None else LedgerRow.from_json(raw.decode())

    def save(self, rows: Iterable[LedgerRow]) -> None:
        """Merged here and swapped in there, again for those that another worker changed in between."""
        left: dict[str, LedgerRow] = {}
        for row in rows:
            left[row.domain] = merge(left.get(row.domain), row)
        while left:
            domains = list(left)
            old: list[bytes | None] = self._connection.one("HMGET", self._key("rows"), *domains)
            words: list[bytes] = []
            for domain, raw in zip(domains, old, strict=True):
                kept = merge(None if raw is None else LedgerRow.from_json(raw.decode()), left[domain])
                words += (domain.encode(), raw or b"", kept.to_json().encode())
            refused: list[bytes] = self._connection.one(_SWAP, (self._key("rows"),), words)
            left = {name.decode(): left[name.decode()] for name in refused}

    def all(self) -> list[LedgerRow]:
        raw: list[bytes] = self._connection.one("HVALS", self._key("rows"))
        return sorted((LedgerRow.from_json(each.decode()) for each in raw), key=lambda row: row.domain)

    def history(self, domain: str) -> list[NightRow]:
        raw: list[bytes] = self._connection.one("HVALS", self._key(f"nights:{domain}"))
        width = len(fields(NightRow))
        nights = [NightRow(*json.loads(each)[:width]) for each in raw]
        return sorted(nights, key=lambda night: night.started_at)

    def append_history(self, nights: Iterable[NightRow]) -> None:
        self._connection.run(
            [
                ("HSET", self._key(f"nights:{night.domain}"), night.night, json.dumps(astuple(night)))
                for night in nights
            ]
        )

    def send(self, command: Command) -> int:
        words = {name: value for name, value in asdict(command).items() if name != "seq"}
        keys = (self._key("commands"), self._key("commands:number"))
        seq: int = self._connection.one(_SEND, keys, (json.dumps(words),))
        return seq

    def commands(self, after: int = 0) -> list[Command]:
        flat: list[bytes] = self._connection.one(
            "ZRANGE", self._key("commands"), f"({after}", "+inf", "BYSCORE", "WITHSCORES"
        )
        found = []
        for raw, seq in zip(flat[::2], flat[1::2], strict=True):
            found.append(Command(**json.loads(raw.partition(b" ")[2]), seq=int(float(seq))))
        return found

    def close(self) -> None:
        self._connection.close()
