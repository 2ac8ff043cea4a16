"""The values of a conversation about robots.txt: what is asked, what came back, what is stored, what holds.

Times are epoch seconds, spans seconds. The conversation itself is in `exchange`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from .document import Robots
from .rules import Decision

__all__ = ["LONGEST_LIFE_S", "Answer", "Copy", "Outcome", "Request", "Verdict"]

#: RFC 9309 2.4: a copy SHOULD NOT be used for longer while the file can be reached.
LONGEST_LIFE_S = 24 * 3600.0


class Outcome(Enum):
    PARSE = "parse"
    ALLOW_ALL = "allow_all"
    DISALLOW_ALL = "disallow_all"
    USE_CACHED = "use_cached"


@dataclass(frozen=True, slots=True)
class Request:
    """The next GET to send: redirects are not to be followed by the client."""

    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a response, or (`error` set, status None) the reason why none did."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    error: str | None = None

    def header(self, name: str) -> str | None:
        """The field's value whatever the case of its name."""
        wanted = name.lower()
        return next((value for key, value in self.headers.items() if key.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class Copy:
    """The last good answer as it is stored between runs. Times are epoch seconds.

    `status` is that of the answer: for 4xx, where all is allowed, `body` is empty. `failures` counts
    outages since, the first at `unreachable_since`, and the site is not asked again before `retry_at`. A
    copy with `status` 0 holds nothing but those three.
    """

    body: bytes = b""
    status: int = 200
    url: str = ""
    fetched_at: float = 0.0
    life_s: float = LONGEST_LIFE_S
    etag: str | None = None
    last_modified: str | None = None
    failures: int = 0
    unreachable_since: float | None = None
    retry_at: float = 0.0

    @property
    def good(self) -> bool:
        """Whether it holds an answer of the site, be it that there is no file."""
        return self.status != 0

    @property
    def file(self) -> bool:
        """Whether it holds a file, which alone can stand in for one that cannot be reached."""
        return 200 <= self.status <= 299


@dataclass(frozen=True, slots=True)
class Verdict:
    """What holds now, why, until when, and what to store.

    `robots` are the rules to apply when `outcome` is PARSE or USE_CACHED. Ask again at `ask_again_at`
    (epoch seconds); `temporary` marks an outage, during which URLs are put off, never excluded.
    """

    outcome: Outcome
    reason: str
    ask_again_at: float
    copy: Copy
    robots: Robots
    temporary: bool = False
    retry_after: float | None = None
    from_cache: bool = False
    changed: bool = False
    requests: int = 0

    def decide(self, token: str, url: str) -> Decision:
        """May the crawler with this product token fetch `url`, and by which line of the file."""
        if self.outcome is Outcome.ALLOW_ALL:
            return Decision(True, None, self.reason)
        if self.outcome is Outcome.DISALLOW_ALL:
            return Decision(False, None, self.reason)
        return self.robots.rules_for(token).decide(url)
