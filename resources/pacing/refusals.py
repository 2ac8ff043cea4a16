"""What a domain accepted and refused, and in which runs: the evidence that beliefs about its limiter rest on.

A *run* is what was accepted between two refusals. A refusal of a request that was in flight at the last one is the
same event; one with nothing accepted in between is the same trouble going on.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

from resources.pacing.limit_estimate import LimitEstimate, estimate_limit

__all__ = ["RefusalKind", "Refusals"]

_ARRIVALS_KEPT = 600
_ARRIVALS_FOR_ESTIMATE = 300
# What led to each of the last refusals: the belief rests on it.
_ARRIVALS_ARCHIVED, _ARCHIVED = 200, 3
_NOISY = 2.5
# No belief reaches further below the rate at the refusal than that (a burst of 100 hides a limit 50 times lower).
_SEARCH_LOW, _SEARCH_HIGH = 0.015, 1.1
# So many refusals in a row, each after twice the wait, are the rest of a counted window, not a bucket that leaks.
_STREAK_OF_WINDOW = 2
# Waits this long are told by those who count by windows; their windows hold the same number each time.
_TOLD_MIN_S, _TOLD_SAME = 5.0, 0.05
# Windows people write, in seconds, and how readily.
_WINDOWS_S = {
    1.0: 0.9, 2.0: 0.1, 5.0: 0.3, 10.0: 0.6, 15.0: 0.3, 20.0: 0.1, 30.0: 0.35, 60.0: 1.0, 120.0: 0.2, 300.0: 0.4,
    600.0: 0.3, 900.0: 0.4, 1800.0: 0.2, 3600.0: 1.0,
}  # fmt: skip
# The rate is innocent when after a clear cut all went well no longer than before, though for a while.
_CUT_CLEARLY, _RUN_LONGER, _RUN_TELLS_S, _RUN_TELLS = 0.8, 1.2, 20.0, 5


class RefusalKind(enum.Enum):
    """How a refusal relates to the last one."""

    SAME = "was in flight at the last one"
    AGAIN = "nothing was accepted in between"
    NEW = "a run has ended"


class Refusals:
    """The arrivals of one domain. `since`: accepted since the last refusal; `run`: accepted in the run before it."""

    __slots__ = (
        "_archive",
        "_event_at",
        "_last_run",
        "_run_at",
        "_status",
        "_streak",
        "_told_run",
        "_told_until",
        "_whole",
        "answers",
        "counts_windows",
        "events",
        "recent",
        "run",
        "since",
        "told_rate",
    )

    def __init__(self) -> None:
        self.recent: list[float] = []  # instants of sending, refused ones negative
        self.since = 0
        self.run = 0
        self.answers = 0  # accepted tonight
        self.events = 0  # refusals tonight, those in flight together counted once
        self.counts_windows = False  # so many per window, not a bucket that leaks
        self._archive: list[tuple[list[float], bool]] = []  # arrivals, and whether there were none before
        self._whole = True
        self._event_at = 0.0
        self._run_at = 0.0
        self._status = 0
        self._streak = 0
        self.told_rate: float | None = None  # of a window whose end the last refusals told; set by the second
        self._told_until = 0.0
        self._told_run = 0
        self._last_run = (0.0, 0.0)  # rate, and for how many seconds it went well

    def accepted(self, sent_at: float) -> float | None:
        """Record an accepted request. Where it ends what looks like a full window: that limiter's rate."""
        recent = self.recent
        recent.append(sent_at)
        self.since += 1
        self.answers += 1
        if len(recent) > _ARRIVALS_KEPT:
            recent.sort(key=abs)
            del recent[: len(recent) // 2]
            self._whole = False
        return self._run_begins(sent_at) if self.since == 1 else None

    def refused(
        self, sent_at: float, now: float, status: int, retry_after_s: float | None = None
    ) -> RefusalKind:
        """Record a refused request."""
        if sent_at <= self._event_at:
            self.recent.append(-sent_at)
            return RefusalKind.SAME
        self.events += 1
        first = self._event_at == 0.0
        self._event_at, self._status = now, status
        if self.since == 0 and not first:
            # Not among the arrivals: it says nothing about a bucket that the wait has emptied.
            self._streak += 1
            return RefusalKind.AGAIN
        self.recent.append(-sent_at)
        self.run, self.since = self.since, 0
        self._told(now, retry_after_s or 0.0)
        return RefusalKind.NEW

    def were_refused(self, instants: Iterable[float]) -> None:
        """What was sent at these instants was recorded as accepted and is now known to have been refused."""
        wrong = set(instants)
        if wrong:
            self.recent = [-instant if instant in wrong else instant for instant in self.recent]

    def event(self, now: float) -> None:
        """Trouble of another kind: what is in flight now belongs to it."""
        self._event_at = now
        self.since = 0

    def keep(self) -> None:
        """Everything that was in flight at the refusal has come in: keep what led to it."""
        self.recent.sort(key=abs)
        self._archive.append(self._last(_ARRIVALS_ARCHIVED))
        # The first one stays: it alone bounds the burst from above whatever the rate.
        del self._archive[1 : 1 - _ARCHIVED]

    @property
    def kept(self) -> bool:
        """Whether there is evidence of any refusal."""
        return bool(self._archive)

    def forget(self) -> None:
        """The limiter is not what it was believed to be."""
        self.counts_windows = False
        self._archive.clear()

    def estimate(self, top_rate: float, floor: float, round_trip_s: float) -> LimitEstimate | None:
        """The belief about the limiter; None when no leaky bucket explains the arrivals."""
        if self.counts_windows:
            return None
        self.recent.sort(key=abs)
        histories, whole = zip(*self._archive, self._last(_ARRIVALS_FOR_ESTIMATE), strict=True)
        if not any(whole):
            whole = (True,) * len(whole)
        low, high = max(floor / 2, top_rate * _SEARCH_LOW), top_rate * _SEARCH_HIGH
        # Before "no leaky bucket": perhaps this machine was busy, and sent later than it thought.
        for noisy in (1.0, _NOISY):
            estimate = estimate_limit(histories, low, high, round_trip_s, whole, noisy)
            if estimate is not None:
                return estimate
        return None

    def _last(self, n: int) -> tuple[list[float], bool]:
        return self.recent[-n:], self._whole and len(self.recent) <= n

    def rate_is_innocent(self, rate: float, sent_at: float) -> bool:
        """Whether the last cut did not make the run that ended at `sent_at` any longer."""
        run_s = sent_at - self._run_at
        last_rate, last_run_s = self._last_run
        self._last_run = (rate, run_s)
        slower = rate < last_rate * _CUT_CLEARLY
        return slower and _RUN_TELLS_S < run_s < last_run_s * _RUN_LONGER and self.run > _RUN_TELLS

    def _told(self, now: float, retry_after_s: float) -> None:
        """The same number taken between two told reopenings is what a window holds."""
        self.told_rate = None
        if retry_after_s < _TOLD_MIN_S:
            self._told_until = 0.0
            return
        until, before = now + retry_after_s, self._told_until
        same = abs(self.run - self._told_run) <= _TOLD_SAME * self.run
        if before and until > before and same and self.run > _RUN_TELLS:
            self.counts_windows = True
            self.told_rate = self.run / (until - before)
        self._told_until, self._told_run = until, self.run

    def _run_begins(self, sent_at: float) -> float | None:
        counted = None
        if self._streak >= _STREAK_OF_WINDOW and self._status == 429:
            self.counts_windows = True
            # It opened again some time between the last refusal and now.
            cycle = _window_between(self._event_at - self._run_at, sent_at - self._run_at)
            counted = max(1, self.run) / max(1e-3, cycle)
        self._streak = 0
        self._run_at = sent_at
        return counted


def _window_between(shortest: float, longest: float) -> float:
    """How long a window is that had not reopened after `shortest` seconds and had after `longest`: what people write
    most readily, else the middle.
    """
    written = [window for window in _WINDOWS_S if shortest <= window <= longest]
    return max(written, key=_WINDOWS_S.__getitem__, default=(shortest + longest) / 2)
