"""Recorded nights: what a site answered window by window, played to the trend on a virtual clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from resources.frontier.base import FetchLogRow
from resources.health.metrics import Health
from resources.health.trend import Action, CanaryWord, TrendState, hear, judge, tick
from resources.health.windows import Window

__all__ = ["DOMAIN", "Answers", "Night", "log_rows"]

DOMAIN = "shop.example"
MINUTE = 60.0
#: (requests, 429s, 403s) of one minute.
Answers = tuple[int, int, int]


@dataclass
class Night:
    """The trend of one domain, and everything it did: (minute, action)."""

    canary: Callable[[float], CanaryWord | None] = lambda now: None
    now: float = 0.0
    state: TrendState = field(default_factory=TrendState)
    done: list[tuple[int, Action]] = field(default_factory=list)

    def play(self, minutes: Iterable[Answers]) -> Night:
        """One window a minute; nothing is sent while the domain is paused."""
        for requests, throttled, forbidden in minutes:
            start, self.now = self.now, self.now + MINUTE
            if self.state.phase != "paused":
                good = requests - throttled - forbidden
                health = Health(requests, good, status_403=forbidden, status_429=throttled)
                self._do(judge(self.state, Window(start, self.now, health), self.now))
            if self.state.canary_asked_at and (word := self.canary(self.now)) is not None:
                self._do(hear(self.state, word, self.now))
            self._do(tick(self.state, self.now))
            # What is kept between two ticks is JSON.
            self.state = TrendState.from_json(self.state.to_json())
        return self

    def _do(self, actions: list[Action]) -> None:
        self.done += [(round(self.now / MINUTE), action) for action in actions]

    @property
    def kinds(self) -> list[str]:
        return [action.kind for _, action in self.done]


def log_rows(minutes: Iterable[Answers], start: float = 0.0, run_id: str = "run-1") -> Iterator[FetchLogRow]:
    """The same as rows of a fetch log, the bad answers spread over each minute."""
    for minute, (requests, throttled, forbidden) in enumerate(minutes):
        bad = [429] * throttled + [403] * forbidden
        every = requests / max(len(bad), 1)
        for n in range(requests):
            due = bool(bad) and n >= (throttled + forbidden - len(bad)) * every
            status = bad.pop(0) if due else 200
            at = start + minute * MINUTE + n * MINUTE / requests
            outcome = {200: "ok", 429: "retry", 403: "failed"}[status]
            cause = "" if status == 200 else f"http_{status}"
            yield FetchLogRow(
                f"https://{DOMAIN}/{run_id}/{minute}/{n}",
                DOMAIN,
                run_id,
                "w",
                1,
                at,
                5.0,
                9.0,
                status,
                outcome,
                cause=cause,
            )
