"""The servers of the proof: what each permits, and which bars are promised for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CASES", "Case"]


@dataclass(frozen=True, slots=True)
class Case:
    """A server with a limit. `permitted`: pages per second it gives to who asks at the best pace (measured before the crawl for the collapsing one)."""

    name: str
    kind: Literal["nginx", "collapsing", "banning"]
    permitted: float
    burst: int = 5
    nodelay: bool = True
    retry_after: bool = True
    status: int = 429

    @property
    def words(self) -> str:
        """For tables and titles."""
        if self.kind == "collapsing":
            return "goodput peaks at 4 connections and collapses"
        told = "Retry-After: 1" if self.retry_after else "no Retry-After"
        if self.kind == "banning":
            return f"{self.permitted:g} r/s burst {self.burst}, {told}; bans for 5 min after 20 × 429"
        mode = "nodelay" if self.nodelay else "delay"
        kind = "" if self.status == 429 else f", {self.status}"
        return f"nginx {self.permitted:g} r/s burst {self.burst} {mode}, {told}{kind}"


def _nginx(rate: float, nodelay: bool, retry_after: bool) -> Case:
    name = f"nginx-{rate:g}-{'nodelay' if nodelay else 'delay'}-{'told' if retry_after else 'untold'}"
    return Case(name, "nginx", rate, nodelay=nodelay, retry_after=retry_after)


CASES = (
    *(
        _nginx(rate, nodelay, told)
        for rate in (5.0, 20.0, 100.0)
        for nodelay in (True, False)
        for told in (True, False)
    ),
    Case("collapsing", "collapsing", 80.0),
    Case("banning", "banning", 20.0),
)
