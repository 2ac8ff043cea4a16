"""Signs of life of a crawl: leases renewed, the worker's beat, the ledger written; and free memory given back. Every few
seconds."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping

from resources.clock import Clock
from resources.frontier.base import FrontierError, WorkerBeat
from resources.pacing.ledger.base import LedgerError
from resources.pacing.pacer import Pacer

from .heap import trim_heap
from .lane import Lane
from .merges.sample import sample_name
from .order import CrawlOrder
from .storage import Storage
from .traps.guard import state_name

__all__ = ["Heartbeat"]

log = logging.getLogger(__name__)

#: A third of the domain lease: two beats may be lost before somebody else may take over.
SHARE_OF_LEASE = 3
#: How often the queue lengths for the progress display are read: O(1) for each open domain.
LOOK_S = 2.0
#: Pages after which free memory is given back: few enough that little gathers, many enough to cost 2 µs each.
TRIM_PAGES = 3_000


class Heartbeat:
    """`run` until cancelled; `farewell` hands leases back and writes the ledger a last time."""

    def __init__(
        self, order: CrawlOrder, storage: Storage, pacer: Pacer, clock: Clock, lanes: Mapping[str, Lane]
    ) -> None:
        self._order = order
        self._storage = storage
        self._pacer = pacer
        self._clock = clock
        self._lanes = lanes
        self._started = clock.now()
        #: Pending URLs by domain, as the frontier last told.
        self.queues: dict[str, int] = {}

    async def run(self) -> None:
        """Beat until cancelled. A storage that fails for a while is the writer's to report."""
        last_beat = 0.0  # the first beat comes at once: a worker killed in its first seconds must be known
        trimmed_at = 0
        while True:
            try:
                self.queues = await self._storage.run(self._look)
                if self._clock.now() - last_beat >= self._order.domain_lease_s / SHARE_OF_LEASE:
                    last_beat = self._clock.now()
                    await self._storage.run(self._beat, self._lane_states())
                    # In the loop's own thread: pacer and ledger belong to it. Only changed rows are written.
                    self._pacer.checkpoint(last_beat)
                pages = self._pages()
                if not trimmed_at <= pages < trimmed_at + TRIM_PAGES:  # fewer: a lane has begun anew
                    trimmed_at = pages
                    await self._storage.run(trim_heap)
            except (FrontierError, LedgerError) as error:
                log.warning("heartbeat failed: %s", error)
            await self._clock.sleep(LOOK_S)

    def _look(self) -> dict[str, int]:
        open_lanes = [lane.domain for lane in list(self._lanes.values()) if not lane.closed]
        return {name: c.pending for name, c in self._storage.frontier.counts_of(open_lanes).items()}

    def _pages(self) -> int:
        return sum(lane.report.pages for lane in list(self._lanes.values()))

    def _lane_states(self) -> dict[str, str]:
        """What trap guards and samples of links have learned since they were last kept, by name of the value."""
        states = {}
        for lane in self._lanes.values():
            if lane.guard.dirty:
                lane.guard.dirty = False
                states[state_name(lane.domain)] = lane.guard.to_json()
            if lane.merges is not None and lane.merges.dirty:
                lane.merges.dirty = False
                states[sample_name(lane.domain)] = lane.merges.to_json()
        return states

    def _beat(self, states: dict[str, str]) -> None:
        """Runs in the storage thread. A lane whose lease passed to somebody else ends at once."""
        order, frontier, now = self._order, self._storage.frontier, self._clock.now()
        for name, state in states.items():
            frontier.set_value(name, state)
        frontier.extend(order.worker, order.lease_s, now)
        open_lanes = [lane for lane in list(self._lanes.values()) if not lane.closed]
        for lane in open_lanes:
            if lane.lease is None:
                continue
            renewed = frontier.lease_domain(lane.domain, order.worker, order.domain_lease_s, now)
            if renewed is None or renewed.fence != lane.lease.fence:
                lane.end("lost_lease", "another worker took the domain over")
            else:
                lane.lease = renewed
        doing = ", ".join(lane.domain for lane in open_lanes[:3]) + (" …" if len(open_lanes) > 3 else "")
        frontier.beat(
            WorkerBeat(
                order.worker,
                socket.gethostname(),
                os.getpid(),
                self._started,
                now,
                doing,
                self._pages(),
                order.run_id,
            )
        )

    async def farewell(self) -> None:
        """After the last flush: no lease of ours is left behind."""

        try:
            self._pacer.checkpoint(self._clock.now())
        except LedgerError as error:
            log.warning("what was learned of the pace since the last heartbeat is lost: %s", error)
        states = self._lane_states()

        def leave() -> None:
            now = self._clock.now()
            for name, state in states.items():
                self._storage.frontier.set_value(name, state)
            self._storage.frontier.release_worker(self._order.worker, now)
            for lane in self._lanes.values():
                if lane.lease is not None:
                    self._storage.frontier.unlease_domain(lane.lease)
                counts = self._storage.frontier.counts(lane.domain)
                lane.report.queue = counts.pending

        await self._storage.patiently(leave)
