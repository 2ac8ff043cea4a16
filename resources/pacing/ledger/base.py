"""The ledger: what is remembered of a domain's pace from night to night, and the seam its back-ends implement.

One small row a domain, one row a domain and night, and a list of commands from outside. A row holds no sums
over time, so that rows of several workers merge by taking the newer, and `owed_until` by taking the later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, Protocol

__all__ = ["Command", "CommandKind", "Ledger", "LedgerError", "LedgerRow", "NightRow", "merge"]


class LedgerError(Exception):
    """The ledger's storage failed; the message names the storage and what to do."""


@dataclass(slots=True, frozen=True)
class LedgerRow:
    """What tonight starts from. Rates are requests per second, instants are epoch seconds."""

    domain: str
    updated_at: float
    rate: float | None = None  # where the last night ended; None: nothing learned yet
    concurrency: int | None = None
    limit_rate: float | None = None  # the limiter as understood: rate ...
    limit_burst: float | None = None  # ... and how many requests it takes at once
    trouble_rate: float | None = None  # the rate at which trouble last began
    probe_every_s: float | None = None  # pause between attempts to go above the limit; doubles on failure
    ttfb_base_s: float | None = None
    usual_body_bytes: float | None = None
    owed_until: float = 0.0  # Retry-After: nothing before that instant
    breaker_until: float = 0.0
    breaker_opened: int = 0  # times in a row that the probe failed too
    breaker_cause: str = ""
    paused_cause: str = ""  # not empty: paused until somebody resumes it
    slow_factor: float = 1.0  # from outside: the rate is multiplied by it ...
    slow_until: float = 0.0  # ... until that instant
    slow_reason: str = ""
    command_seq: int = 0  # the last command that was applied
    reasons: tuple[str, ...] = ()  # what held it back when the row was written, for people

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> LedgerRow:
        """Read what `to_json` wrote; fields of a newer version are left out."""
        known = {item.name for item in fields(cls)}
        values: dict[str, Any] = {key: value for key, value in json.loads(text).items() if key in known}
        values["reasons"] = tuple(values.get("reasons", ()))
        return cls(**values)


@dataclass(slots=True, frozen=True)
class NightRow:
    """One domain in one night, for the history table and the plots."""

    domain: str
    night: str  # the night's name: its ISO date or the run's partition
    started_at: float
    ended_at: float
    requests: int = 0
    throttled: int = 0  # 429 and 503
    forbidden: int = 0
    walls: int = 0
    failures: int = 0
    rate_start: float | None = None
    rate_end: float | None = None
    limit_rate: float | None = None
    trouble_rate: float | None = None
    waited_s: float = 0.0  # in Retry-After and cool-downs
    paused_cause: str = ""


CommandKind = Literal["slow_down", "pause", "resume"]


@dataclass(slots=True, frozen=True)
class Command:
    """An order from outside the crawl: the trend sensor, an operator. A running pacer obeys at its checkpoint."""

    domain: str
    kind: CommandKind
    at: float
    factor: float = 1.0  # slow_down: the rate is multiplied by it
    until: float = 0.0
    reason: str = ""
    seq: int = field(default=0, compare=False)  # given by the ledger


class Ledger(Protocol):
    """Where rows, nights and commands are kept."""

    def load(self, domain: str) -> LedgerRow | None: ...

    def save(self, rows: Iterable[LedgerRow]) -> None:
        """Write rows, durable together; an older row never replaces a newer one (see `merge`)."""
        ...

    def all(self) -> list[LedgerRow]:
        """Every row, by domain."""
        ...

    def history(self, domain: str) -> list[NightRow]:
        """The nights of a domain, oldest first."""
        ...

    def append_history(self, nights: Iterable[NightRow]) -> None:
        """Add nights; the same domain and night again replaces the earlier row."""
        ...

    def send(self, command: Command) -> int:
        """Queue an order; returns its number, ascending over the whole ledger."""
        ...

    def commands(self, after: int = 0) -> list[Command]:
        """Orders with a number above `after`, ascending."""
        ...

    def close(self) -> None: ...


def merge(old: LedgerRow | None, new: LedgerRow) -> LedgerRow:
    """The row to keep when two workers wrote one: the newer one, but never an earlier `owed_until`."""
    if old is None:
        return new
    first, last = (old, new) if old.updated_at <= new.updated_at else (new, old)
    if first.owed_until <= last.owed_until:
        return last
    return replace(last, owed_until=first.owed_until)
