"""Turns on Redis: one call of `lua/turn.lua` a domain, all of them in one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resources.pacing.ledger.base import LedgerError
from resources.pacing.shared.exchange import Ask
from resources.shared_redis.connection import Call, Connection
from resources.shared_redis.scripts import read_script

__all__ = ["RedisTurns"]

_TURN = read_script(Path(__file__).parent / "lua" / "turn.lua")
#: Where the leader's state stands in a reply.
_TOLD = 8


class RedisTurns:
    """See `exchange.Turns`. `address`: the ledger's."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: Connection | None = None

    def take(self, worker: str, asks: Sequence[Ask], offset: float) -> list[list[Any]]:
        if self._connection is None:
            self._connection = Connection(self._address, [_TURN], LedgerError, LedgerError)
        namespace = self._connection.namespace
        replies = self._connection.run([_call(namespace, worker, ask, offset) for ask in asks])
        for reply in replies:
            reply[_TOLD] = reply[_TOLD].decode()
        return replies

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _call(namespace: bytes, worker: str, ask: Ask, offset: float) -> Call:
    key = b"%s:{%s}:pace" % (namespace, ask.domain.encode("utf-8", "surrogatepass"))
    told: tuple[Any, ...] = ("", "", "", "")
    if ask.told is not None:
        rate, cap, gate, state = ask.told
        told = (repr(rate), cap, repr(gate), state.encode())
    owed = "" if ask.owed_s is None else repr(ask.owed_s)
    back = [f"{slot + offset:.6f}" for slot in ask.back]
    words = (worker, ask.hold, ask.want, ask.slots, ask.burst, owed, *told, len(back), *back)
    return (_TURN, (key,), (*words, *ask.seen))
