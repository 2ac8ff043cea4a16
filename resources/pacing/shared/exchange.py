"""The turns of a worker: asks of many domains go out in one round trip, answers come back to the loop.

`Turns` is the seam to the server that keeps the pace: `redis_turns`, `postgres_turns`.

A thread of its own makes the trips, so that a server that stalls never holds up running fetches: no answer
means no slots and, after a while, no permits.
"""

from __future__ import annotations

import logging
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from resources.pacing.ledger.base import LedgerError

__all__ = ["Answer", "Ask", "Exchange", "Turns"]

log = logging.getLogger(__name__)

#: Pause after a trip that failed.
RETRY_S = 0.5
#: An offset between the clocks is believed for so long; until then only a faster trip corrects it.
OFFSET_S = 30.0


@dataclass(slots=True)
class Ask:
    """What a worker says and asks about one domain. `told`: rate, cap, gate (server time), state; of a leader."""

    domain: str
    hold: int  # permits it holds to from now on
    want: int  # URLs it could request now
    slots: int
    burst: int
    back: list[float]  # slots in hand that will not be used
    owed_s: float | None = None
    told: tuple[float, int, float, str] | None = None
    seen: list[bytes] = field(default_factory=list)
    lost: int = 0  # slots whose time passed before they could be used


@dataclass(slots=True)
class Answer:
    """What came back. Instants are already in the local clock; `gate` is `inf` when nothing may be sent."""

    domain: str
    leading: int  # 0 no, 1 as before, 2 from now on
    extra: int
    target: int
    holders: int
    rate: float | None
    cap: int | None
    gate: float
    told: str
    again: float  # seconds after which another turn is worth it
    slots: list[float]
    seen: list[bytes]
    ask: Ask


class Turns(Protocol):
    """A server that keeps the pace. Used by one thread; a connection that broke is opened again by the next call."""

    def take(self, worker: str, asks: Sequence[Ask], offset: float) -> list[list[Any]]:
        """One round trip. `offset`: server clock minus local clock, as far as known: `back` is in local time.

        A reply for each ask, in order: server time, leading, extra, target, holders, rate, cap, gate, told, again,
        number of slots, then these slots and what was seen (bytes); instants in server time, '' or None for nothing.
        LedgerError: it may or may not have arrived.
        """

    def close(self) -> None: ...


class Exchange:
    """`send` asks when `idle`; `answers` fill up, and `on_answer` is called from the thread."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        # Whoever is killed and comes back is somebody else: the old permits must lapse first.
        self._worker = secrets.token_hex(8)
        self._inbox: queue.SimpleQueue[Sequence[Ask] | None] = queue.SimpleQueue()
        self.answers: deque[Answer] = deque()
        #: Asks of a trip that failed: they may or may not have arrived.
        self.unanswered: deque[Sequence[Ask]] = deque()
        self.idle = True
        self.trips = 0
        self.on_answer: Callable[[], object] = lambda: None
        self._offset, self._offset_rtt, self._offset_at = 0.0, float("inf"), 0.0
        self._thread = threading.Thread(target=self._run, name="nightcrawl-pace", daemon=True)
        self._thread.start()

    @property
    def offset(self) -> float:
        """Server clock minus local clock, in seconds."""
        return self._offset

    def send(self, asks: Sequence[Ask]) -> None:
        self.idle = False
        self._inbox.put(asks)

    def close(self) -> None:
        """Waits for the trip that is on."""
        self._inbox.put(None)
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while (asks := self._inbox.get()) is not None:
            try:
                self.answers.extend(self._trip(asks))
            except LedgerError as error:
                log.warning("no turn in pacing: %s", error)
                self.unanswered.append(asks)
                time.sleep(RETRY_S)
            self.idle = True
            self.on_answer()
        self._turns.close()

    def _trip(self, asks: Sequence[Ask]) -> list[Answer]:
        started = time.time()
        replies = self._turns.take(self._worker, asks, self._offset)
        self.trips += 1
        ended = time.time()
        self._set_clock(float(replies[0][0]), started, ended)
        return [self._answer(ask, reply) for ask, reply in zip(asks, replies, strict=True)]

    def _set_clock(self, server: float, started: float, ended: float) -> None:
        rtt = ended - started
        if rtt < self._offset_rtt or ended - self._offset_at > OFFSET_S:
            self._offset, self._offset_rtt, self._offset_at = server - (started + ended) / 2, rtt, ended

    def _answer(self, ask: Ask, reply: list[Any]) -> Answer:
        _, leading, extra, target, holders, rate, cap, gate, told, again, count, *rest = reply
        opens = float(gate)
        return Answer(
            domain=ask.domain,
            leading=leading,
            extra=extra,
            target=target,
            holders=holders,
            rate=float(rate) if rate else None,
            cap=int(cap) if cap else None,
            gate=float("inf") if opens >= 1e12 else opens - self._offset,
            told=told,
            again=float(again),
            slots=[float(slot) - self._offset for slot in rest[:count]],
            seen=rest[count:],
            ask=ask,
        )
