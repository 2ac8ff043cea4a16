"""What a plan is made from: one value a domain, read before the night."""

from __future__ import annotations

from dataclasses import dataclass

from resources.pacing.window import Window

__all__ = ["DomainFacts", "PastNight"]


@dataclass(frozen=True, slots=True)
class PastNight:
    """One domain in one earlier night, from the fetch log. Instants are epoch seconds."""

    night: str
    requests: int
    urls: int
    """Different URLs among the requests: retries make the difference."""
    seconds: float
    """From the domain's first request to its last."""
    wire_bytes: int
    new_pages: int
    """Pages that gave a body for the first time."""


@dataclass(frozen=True, slots=True)
class DomainFacts:
    """What is known of a domain before its night. Rates are requests a second; None: not known or not set."""

    domain: str
    site: str = ""
    starts_at: float = 0.0
    deadline: float | None = None
    pending: int = 0
    due: int = 0
    """Pages whose freshness will have run out when the night begins."""
    eligible: int = 0
    """Failed URLs that the retry pass may take."""
    max_pages: int | None = None
    rate: float | None = None
    """Where the last night ended."""
    ceiling: float | None = None
    """Highest rate that the site file and robots.txt allow; `inf`: unlimited."""
    owed_until: float = 0.0
    paused_cause: str = ""
    window: Window | None = None
    history: tuple[PastNight, ...] = ()
    """Earlier nights, oldest first."""
    first_seen: bool = True
    """Whether `history` begins with the domain's very first night, in which everything is new."""

    @property
    def usual(self) -> tuple[PastNight, ...]:
        """Nights that can be expected to come again: without the first, in which everything was new."""
        return self.history[1:] if self.first_seen else self.history
