"""Turns on Redis: one call of `lua/turn.lua` a domain, all of them in one round trip.

A crash or a failover may forget a second of slots and permits that are in use: the first turn after a broken
connection says so, and nothing new is given for a second.
"""

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
        #: Domains that were asked about before the connection broke, and not yet after.
        self._cut: set[str] = set()
        self._asked: set[str] = set()

    def take(self, worker: str, asks: Sequence[Ask], offset: float) -> list[list[Any]]:
        if self._connection is None:
            self._connection = Connection(self._address, [_TURN], LedgerError, LedgerError)
        namespace, epoch = self._connection.namespace, self._connection.epoch
        try:
            replies = self._connection.run(
                [_call(namespace, worker, ask, offset, ask.domain in self._cut) for ask in asks]
            )
            if self._connection.epoch != epoch:
                # Up again before the break was noticed. What it gave just now may be somebody else's.
                raise LedgerError(f"{self._connection.address.shown}: it was started again; asking once more")
        except LedgerError:
            self._cut |= self._asked
            raise
        told = {ask.domain for ask in asks}
        self._asked |= told
        self._cut -= told
        for reply in replies:
            reply[_TOLD] = reply[_TOLD].decode()
        return replies

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _call(namespace: bytes, worker: str, ask: Ask, offset: float, cut: bool) -> Call:
    key = b"%s:{%s}:pace" % (namespace, ask.domain.encode("utf-8", "surrogatepass"))
    told: tuple[Any, ...] = ("", "", "", "")
    if ask.told is not None:
        rate, cap, gate, state = ask.told
        told = (repr(rate), cap, repr(gate), state.encode())
    owed = "" if ask.owed_s is None else repr(ask.owed_s)
    back = [f"{slot + offset:.6f}" for slot in ask.back]
    words = (
        worker,
        ask.hold,
        ask.want,
        ask.slots,
        ask.burst,
        owed,
        *told,
        int(cut),
        ask.lost,
        len(back),
        *back,
    )
    return (_TURN, (key,), (*words, *ask.seen))
