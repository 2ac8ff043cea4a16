"""What is known of one proxy: how often it delivers, how fast, and whether it rests.

States: *well*; *resting* until an instant after failures in a row; *on trial*: its rest is over and one request
goes through it. A trial that succeeds makes it well, one that fails doubles the rest.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

__all__ = ["Delivery", "Proxy"]

#: Failures in a row after which a proxy rests. One may be chance; three in a row of a proxy that delivers 95 %
#: of the time are not.
FAILURES_TO_REST = 3
#: Time-outs in a row, which may be the site's as well.
DOUBTS_TO_REST = 6
#: The longest rest: a proxy that comes back within the night is found within the night.
LONGEST_REST_S = 6 * 3600.0
#: Weight of the newest delivery in share and speed: some twenty deliveries are remembered.
FOLLOW = 0.1


class Delivery(enum.Enum):
    """What one request through a proxy says about the proxy."""

    GOOD = "good"  # it carried a response, whatever the site answered
    FAILED = "failed"  # it could not be reached, or refused the job
    DENIED = "denied"  # it refuses our credentials: no second request will do better
    DOUBTFUL = "doubtful"  # silence: the site's or the proxy's
    UNTOLD = "untold"  # the request ended before it could tell anything


@dataclass(slots=True, eq=False)
class Proxy:
    """`url` has the credentials and is shown nowhere; `name` is `host:port`, for people."""

    url: str = field(repr=False)
    rest_s: float
    name: str = field(init=False)
    share: float = 1.0  # of deliveries that were good, recent ones weighing more
    seconds: float | None = None  # to the response head, recent ones weighing more
    failures: int = 0  # in a row
    doubts: int = 0  # in a row
    rests: int = 0  # in a row, each twice as long
    until: float | None = None  # resting or on trial when set
    on_trial: bool = False
    why: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        self.name = parts.netloc.rpartition("@")[2]

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that must stand in no message, longest first."""
        parts = urlsplit(self.url)
        told = {t for t in (parts.username, parts.password) if t}
        told |= {unquote(t) for t in told}
        return tuple(sorted(told, key=len, reverse=True))

    @property
    def weight(self) -> float:
        """For a weighted choice: the share squared (who fails twice as often is chosen a quarter as often), over
        the time to the head; a proxy without history counts as fast, so that it gets one."""
        return max(self.share, 0.01) ** 2 / max(self.seconds if self.seconds is not None else 0.1, 0.02)

    def usable(self) -> bool:
        return self.until is None

    def rested(self, now: float) -> bool:
        """Whether its rest is over and nobody tries it yet."""
        return self.until is not None and now >= self.until and not self.on_trial

    def delivered(self, delivery: Delivery, seconds: float | None, now: float) -> None:
        """One request has ended."""
        trial, self.on_trial = self.on_trial, False
        if delivery is Delivery.UNTOLD:
            return
        good = delivery is Delivery.GOOD
        self.share += (good - self.share) * FOLLOW
        if good:
            if seconds is not None:
                known = self.seconds if self.seconds is not None else seconds
                self.seconds = known + (seconds - known) * FOLLOW
            self.failures = self.doubts = self.rests = 0
            self.until, self.why = None, ""
            return
        if delivery is Delivery.DOUBTFUL:
            self.doubts += 1
        else:
            self.failures += 1
        enough = self.failures >= FAILURES_TO_REST or self.doubts >= DOUBTS_TO_REST
        if trial or enough or delivery is Delivery.DENIED:
            self.until = now + min(LONGEST_REST_S, self.rest_s * 2.0**self.rests)
            self.rests += 1
            self.failures = self.doubts = 0
