"""Whether throttling is becoming a trend, and what to do about it: a pure function from windows to actions.

The pacer answers each refusal within the second. This is the slower, outer loop: it looks at closed windows across
runs and reacts when one window after another says the same, never to a single reading. Numbered cases of
`judge`, the gravest first:

1. *ban*: two windows in a row in which four of five requests are refused (429, 503, 403, walls): pause, ask the
   canaries, come back slowly after a cool-off that doubles each time;
2. *jump*: two windows in a row far above what is usual, in 403s and walls without any 429, or in 429s: cool down
   to a quarter of the rate and ask the canaries;
3. *climb*: the share of 429s rises over three windows in a row: ease to seven tenths, again while it goes on;
4. *flapping*: trouble in half of the last windows, with good ones between them: ease once and be slow to recover;
5. *recovery*: five good windows in a row: half as fast again, up to the rate the pacer would choose by itself.

A single bad window (a burst) changes nothing, and what was done is undone only by good windows or by the canaries
saying that the fault is on our side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from .windows import Window

__all__ = ["Action", "ActionKind", "CanaryWord", "TrendState", "hear", "judge", "tick"]

#: Windows remembered; two flaps fit.
KEPT = 6
#: Shares of requests: nearly nothing, worth a look, a jump, a ban.
GOOD, SOME, HIGH, BAN = 0.005, 0.02, 0.2, 0.8
#: A rise smaller than that is noise: at 60 requests a window one refusal is 1.7 points.
RISE = 0.005
#: A jump in 403s is measured from what is usual: sites have forbidden pages.
JUMP = 0.15
#: What the rate is multiplied by, and never below.
EASE, COOL, LEAST = 0.7, 0.25, 0.05
#: Good windows until it goes faster again, and by how much; after flapping twice as many.
GOOD_RUN, FASTER = 5, 1.5
#: An order holds until it is lifted, or through the next night.
HOLDS_S = 26 * 3_600.0
#: Cool-off after a ban; doubled each time, up to a day.
COOL_OFF_S, COOL_OFF_MAX_S = 1_800.0, 86_400.0
#: Weight of a good window in what counts as usual.
LEARN = 0.2
#: A canary that has not answered by then is not waited for.
CANARY_WAIT_S = 900.0

ActionKind = Literal["ease", "cool_down", "pause", "resume", "faster", "lift", "ask_canary"]
Phase = Literal["calm", "eased", "paused"]
#: What a canary run said: pages are as they should be; the site's fault; our own; nobody can tell.
CanaryWord = Literal["passed", "them", "us", "unknown"]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do, with the words for people. `factor`: of the rate; `until`: epoch seconds."""

    kind: ActionKind
    reason: str
    factor: float = 1.0
    until: float = 0.0
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class TrendState:
    """What is remembered of a domain. JSON in and out; under 1 KB."""

    phase: Phase = "calm"
    factor: float = 1.0
    throttled: list[float] = field(default_factory=list)  # shares of the last windows, oldest first
    refused: list[float] = field(default_factory=list)  # 403s and walls
    usual_refused: float = 0.0
    good: int = 0
    flapped: bool = False
    bans: int = 0
    paused_until: float = 0.0
    canary_asked_at: float = 0.0  # 0: none is awaited
    judged_at: float = 0.0
    jumped_to: float = 0.0  # the share of 403s and walls that led to a cool-down

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrendState:
        known = cls.__dataclass_fields__
        return cls(**{name: value for name, value in data.items() if name in known})

    @property
    def forgettable(self) -> bool:
        """As good as a new one."""
        return self.phase == "calm" and self.factor == 1.0 and not self.canary_asked_at and not self.bans


def judge(state: TrendState, window: Window, now: float) -> list[Action]:
    """Take in a closed window; change `state`; what to do. See the module docstring for the cases."""
    health = window.health
    refused = health.ban_signals / health.requests if health.requests else 0.0
    state.throttled = [*state.throttled, health.share_throttled][-KEPT:]
    state.refused = [*state.refused, refused][-KEPT:]
    state.judged_at = now
    numbers = {
        "429 share": round(health.share_429, 4),
        "503 share": round(health.share_throttled - health.share_429, 4),
        "403 and wall share": round(refused, 4),
        "requests": float(health.requests),
        "pages per s": round(health.pages / max(window.end - window.start, 1.0), 3),
    }
    if state.phase == "paused":
        return []  # what was in flight; `tick` ends the pause
    throttled, both = state.throttled, [a + b for a, b in zip(state.throttled, state.refused, strict=True)]
    usual = state.usual_refused
    if _last(both, 2, lambda s: s >= BAN):
        return _pause(state, f"{both[-1]:.0%} of the requests are refused", now, numbers)
    jumped = _last(state.refused, 2, lambda s: s >= usual + JUMP and s >= 3 * usual)
    if jumped or _last(throttled, 2, lambda s: s >= HIGH):
        state.jumped_to = refused if jumped else 0.0
        words = (
            f"403s and walls jumped from {usual:.1%} to {refused:.0%} of the requests"
            if jumped
            else f"{throttled[-1]:.0%} of the requests were throttled, window after window"
        )
        return _cool_down(state, words, now, numbers)
    if _climbs(throttled):
        shares = " → ".join(f"{s:.1%}" for s in throttled[-3:])
        return _ease(state, f"the share of 429s climbs: {shares}", now, numbers)
    if _flaps(throttled) and not state.flapped:
        state.flapped = True
        return _ease(state, "429s come and go: trouble in half of the last windows", now, numbers)
    if both[-1] - usual < GOOD:
        state.usual_refused += LEARN * (refused - usual)
        return _recover(state, now, numbers)
    if not _flaps(throttled) and refused - usual < JUMP:
        state.usual_refused += LEARN * (refused - usual)
    state.good = 0
    return []


def tick(state: TrendState, now: float) -> list[Action]:
    """What time alone brings: the end of a cool-off, a canary that never answered."""
    if state.canary_asked_at and now - state.canary_asked_at > CANARY_WAIT_S:
        state.canary_asked_at = 0.0
    if state.phase == "paused" and now >= state.paused_until and not state.canary_asked_at:
        return _return(state, "the cool-off is over", now)
    return []


def hear(state: TrendState, word: CanaryWord, now: float) -> list[Action]:
    """What the canary run found. 1. our own fault: the site has nothing to do with it, lift what was done;
    2. pages are well while paused: come back now, slowly; 3. pages are well after a jump of 403s: parts of the site
    are simply forbidden, that many are usual from now on; 4. their fault, or nobody knows: stay as it is."""
    state.canary_asked_at = 0.0
    if word == "us":
        phase, state.phase = state.phase, "calm"
        state.factor, state.bans, state.flapped = 1.0, 0, False
        state.throttled, state.refused = [], []
        kind: ActionKind = "resume" if phase == "paused" else "lift"
        return [Action(kind, "canaries: other sites fail too, the fault is on our side", 1.0, now + 1.0)]
    if word == "passed" and state.phase == "paused":
        return _return(state, "canaries: the pages are as they should be", now)
    if word == "passed" and state.jumped_to:
        state.usual_refused = max(state.usual_refused, state.jumped_to)
        state.jumped_to = 0.0
    return []


def _last(shares: list[float], n: int, test: Any) -> bool:
    return len(shares) >= n and all(test(s) for s in shares[-n:])


def _climbs(shares: list[float]) -> bool:
    """Rising over three windows in a row, and no longer negligible."""
    if len(shares) < 3 or shares[-1] < SOME:
        return False
    first, second, third = shares[-3:]
    return second - first >= RISE and third - second >= RISE


def _flaps(shares: list[float]) -> bool:
    bad = sum(s >= SOME for s in shares)
    return len(shares) == KEPT and bad >= KEPT // 2 and sum(shares) / KEPT >= SOME


def _ease(state: TrendState, reason: str, now: float, numbers: Mapping[str, float]) -> list[Action]:
    state.phase = "eased"
    state.factor = max(LEAST, state.factor * EASE)
    state.good = 0
    # The next judgement needs windows of the new rate.
    state.throttled = state.throttled[-1:]
    state.refused = state.refused[-1:]
    return [Action("ease", reason, state.factor, now + HOLDS_S, numbers)]


def _cool_down(state: TrendState, reason: str, now: float, numbers: Mapping[str, float]) -> list[Action]:
    state.phase = "eased"
    state.factor = max(LEAST, state.factor * COOL)
    state.good = 0
    state.throttled, state.refused = [], []
    done = [Action("cool_down", reason, state.factor, now + HOLDS_S, numbers)]
    return done + _ask(state, reason, now)


def _pause(state: TrendState, reason: str, now: float, numbers: Mapping[str, float]) -> list[Action]:
    state.phase = "paused"
    state.paused_until = now + min(COOL_OFF_MAX_S, COOL_OFF_S * 2.0**state.bans)
    state.bans += 1
    state.good = 0
    state.throttled, state.refused = [], []
    done = [Action("pause", reason, 0.0, state.paused_until, numbers)]
    return done + _ask(state, reason, now)


def _ask(state: TrendState, reason: str, now: float) -> list[Action]:
    if state.canary_asked_at:
        return []
    state.canary_asked_at = now
    return [Action("ask_canary", reason)]


def _return(state: TrendState, reason: str, now: float) -> list[Action]:
    """Out of a pause: at a quarter of the rate, and from there as after any trouble."""
    state.phase, state.factor, state.good = "eased", COOL, 0
    return [
        Action("resume", reason),
        Action("ease", f"{reason}: beginning slowly", state.factor, now + HOLDS_S),
    ]


def _recover(state: TrendState, now: float, numbers: Mapping[str, float]) -> list[Action]:
    state.good += 1
    if state.phase != "eased" or state.good < GOOD_RUN * (2 if state.flapped else 1):
        return []
    state.good = 0
    state.factor = min(1.0, state.factor * FASTER)
    if state.factor < 1.0:
        words = f"good windows in a row: {state.factor:.0%} of the rate"
        return [Action("faster", words, state.factor, now + HOLDS_S, numbers)]
    state.phase, state.flapped, state.bans = "calm", False, 0
    return [
        Action("lift", "good windows in a row: nothing holds the rate back any more", 1.0, now + 1.0, numbers)
    ]
