"""What is known of one list or calendar: how far it was named and fetched, what it brought, what speaks against it.

*Doubt* is what closes a place: it grows with every page at the edge that brings nothing, the faster the more such a
page resembles the one before, and falls to nothing with the first page that says something new. The more pages of a
place were worth it, the more doubt it may raise: at most one page in a hundred is wasted that way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .novelty import Memory

__all__ = ["Edge", "Growth", "Place"]

#: Doubtful pages in a row that close a place. Alike: the same links, length and words as the page before.
ALIKE = 2
#: Nothing new, but not the page before again: entries in another order, a hole in a list.
OLD = 10
#: Something new that may mean nothing: a single number, links to pages known from elsewhere.
DOUBTFUL = 100
#: Months or days ahead that say nothing: calendars say so little that three tell all.
FUTURE = 3
#: Towards the past: archives end by themselves, but some have holes of a year.
PAST = 18
#: For so many pages that were worth it, one more that is like the one before is endured.
GOOD_FOR_ONE = 100
#: Pages in a row at the edge that name nothing but the next one, in one night. It goes on the night after: a text
#: that is made up for ever cannot be told from a book, but it cannot hold a night.
UNBROKEN = 10_000

Edge = tuple[int, ...]
Growth = Literal["alike", "old", "doubtful", "new"]

_DOUBT: dict[Growth, float] = {"alike": 1 / ALIKE, "old": 1 / OLD, "doubtful": 1 / DOUBTFUL}


@dataclass(slots=True)
class Place:
    """`low`, `high`: what was named; `inside`: the lowest and highest that were fetched, or count as such."""

    name: str
    low: Edge
    high: Edge
    inside_low: Edge
    inside_high: Edge
    memory: Memory = field(default_factory=Memory)
    good: int = 0  # pages that brought links, rows or text
    fetched: int = 0
    unbroken: int = 0  # pages at the edge since the last that named something else
    doubt: float = 0.0
    doubt_past: float = 0.0
    streak: int = 0  # looks in a row that found something new
    unlooked: int = 0  # pages since the last look
    links: int = 0
    length: int = 0
    closed_above: bool = False
    closed_below: bool = False
    closed_at: float = 0.0
    patience: float = 1.0  # halved with each night that closed it again
    probes: int = 0
    passed: int = 0  # URLs refused while a probe waits for the furthest
    probe_at: int = 0  # pages of the domain at which the next probe of this night is due
    probe_gap: int = 0
    last: Edge = ()  # of the page before
    run_from: Edge = ()  # where doubt began

    @property
    def reason(self) -> str:
        return f"trap: endless {self.name}"

    @property
    def head(self) -> str:
        """What the addresses of its pages begin with."""
        return self.name.partition("#")[0]

    @property
    def dated(self) -> bool:
        return len(self.inside_high) == 3

    @property
    def closed(self) -> bool:
        return self.closed_above or self.closed_below

    @property
    def fruitless(self) -> bool:
        """Ten pages and more, of which not one in twenty said anything."""
        return self.fetched >= 10 and self.good * 20 < self.fetched

    def beyond(self, edge: Edge) -> bool:
        above = self.closed_above and edge > self.inside_high
        return above or (self.closed_below and edge < self.inside_low)

    def furthest(self, edge: Edge) -> bool:
        """Whether nothing further out was named: the best place for a probe, past any hole."""
        return edge >= self.high if self.closed_above else edge <= self.low

    def worth(self) -> None:
        """A page brought something."""
        self.good += 1
        self.doubt = self.doubt_past = 0.0

    def doubted(self, edge: Edge, growth: Growth, patience: float = 1.0, *, past: bool = False) -> bool:
        """A page at the edge brought nothing (`growth`); whether the place is to be closed on that side."""
        limit = patience * self.patience * (1.0 + self.good // GOOD_FOR_ONE / ALIKE)
        if past:
            self.doubt_past += 1 / PAST
            return self.doubt_past >= limit - 1e-9
        if not self.doubt:
            self.run_from = edge if self.dated else self.last or edge
        self.doubt += 1 / FUTURE if self.dated else _DOUBT[growth]
        return self.doubt >= limit - 1e-9

    def to_save(self, now: float) -> dict[str, Any]:
        return {
            "name": self.name, "inside": [self.inside_low, self.inside_high], "named": [self.low, self.high],
            "above": self.closed_above, "below": self.closed_below, "at": self.closed_at or now,
            "patience": self.patience, "good": self.good, "links": self.links, "length": self.length,
            "memory": self.memory.to_save() if self.closed else [], "fetched": self.fetched,
        }  # fmt: skip

    @classmethod
    def from_saved(cls, saved: Mapping[str, Any]) -> Place:
        """As the night before left it, with one probe to spend and half the patience."""
        low, high = (tuple(edge) for edge in saved["named"])
        inside_low, inside_high = (tuple(edge) for edge in saved["inside"])
        return cls(
            saved["name"], low, high, inside_low, inside_high, Memory(saved["memory"]), saved["good"],
            closed_above=saved["above"], closed_below=saved["below"], closed_at=saved["at"],
            fetched=saved["fetched"], patience=saved["patience"] / (2 if saved["above"] or saved["below"] else 1), probes=1, links=saved["links"], length=saved["length"],
        )  # fmt: skip
