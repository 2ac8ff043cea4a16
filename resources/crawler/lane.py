"""One domain within a crawl: its buffer of claims, what is in flight, and how it ended."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resources.frontier.base import Claim, DomainLease
from resources.pages.base import PageHead

from .lost_requests import LostRequests
from .order import DomainReport, End
from .territory import DomainRules
from .traps.guard import TrapGuard

if TYPE_CHECKING:
    from .merges import MergeSample, Probe

__all__ = ["Lane"]


@dataclass(slots=True, eq=False)
class Lane:
    """`buffer` holds claims that may be fetched (scope and robots already asked), with the stored head."""

    domain: str
    rules: DomainRules
    report: DomainReport
    guard: TrapGuard
    lease: DomainLease | None = None
    buffer: deque[tuple[Claim, PageHead | None]] = field(default_factory=deque)
    held: list[tuple[Claim, PageHead | None]] = field(
        default_factory=list
    )  # the trap guard waits for another
    in_flight: int = 0
    unflushed: int = 0  # acks handed to the writer and not yet committed
    refilling: bool = False
    dry: bool = False  # the frontier had nothing claimable when last asked
    ready_at: float | None = None  # when it will have something again
    ending: End | None = None  # decided to end; closes when nothing is in flight
    waves: deque[tuple[str, ...]] = field(default_factory=deque)  # retry pass: causes still to take up
    closed: bool = False
    taken: int = 0  # requests started, for max_pages
    admitted: bool = False  # known to the pacer
    batch: int = 8  # URLs of one claim: what the domain's pace uses up in a few seconds
    merges: MergeSample | None = None  # links that the site's rules merge; None where nobody asks about them
    audited: bool = False  # the audit of these had its turn
    probes: deque[Probe] = field(default_factory=deque)  # its requests still to be sent
    lost: LostRequests | None = None  # once one was

    @property
    def wanted(self) -> int:
        """Requests that could be sent now."""
        return len(self.buffer) + len(self.probes)

    @property
    def idle(self) -> bool:
        """Nothing buffered, held, in flight, on its way to the frontier, or being claimed."""
        return not (
            self.buffer or self.probes or self.held or self.in_flight or self.unflushed or self.refilling
        )

    def repeats(self, claim: Claim) -> bool:
        """Whether a request that was lost with its connection is made again at once."""
        if self.lost is None:
            self.lost = LostRequests()
        return self.lost.repeat(claim, sum(self.report.statuses.values()))

    def end(self, end: End, detail: str = "") -> None:
        """Take no more work. The first reason given stays."""
        if self.ending is None:
            self.ending = end
            self.report.end = end
            self.report.detail = detail
