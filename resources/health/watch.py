"""Follows the fetch log across runs, judges each closed window, and gives the orders to the ledger.

    watch = TrendWatch(frontier, ledger)
    for domain, action in watch.look(now, canary_word): …      what was done; `ask_canary` is the caller's to do

State lives in the frontier (one named value), so that any process may go on where another ended. A look costs
10 µs a new log row and the writing of some hundred bytes for each domain that was active in the last hours.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from resources.frontier.base import Frontier
from resources.pacing.ledger.base import Command, CommandKind, Ledger

from .trend import Action, ActionKind, CanaryWord, TrendState, hear, judge, tick
from .windows import Window, WindowMaker

__all__ = ["STATE_NAME", "TrendWatch"]

#: The frontier's named value that holds the state.
STATE_NAME = "throttling trend"
#: Log rows of one look: a second of work. The rest waits for the next.
MAX_ROWS = 100_000
_CHUNK = 5_000
#: A domain nothing is held against is forgotten when it has been silent for so long.
FORGET_S = 6 * 3_600.0

_COMMANDS: dict[ActionKind, CommandKind] = {
    "ease": "slow_down",
    "cool_down": "slow_down",
    "faster": "slow_down",
    "lift": "slow_down",
    "pause": "pause",
    "resume": "resume",
}


class TrendWatch:
    """One look at a time; see the module docstring."""

    def __init__(self, frontier: Frontier, ledger: Ledger) -> None:
        self._frontier = frontier
        self._ledger = ledger
        kept = frontier.get_value(STATE_NAME)
        saved: dict[str, Any] = json.loads(kept) if kept else {}
        self._after = int(saved.get("after", 0))
        self.states: dict[str, TrendState] = {}
        self._makers: dict[str, WindowMaker] = {}
        for domain, data in saved.get("domains", {}).items():
            self.states[domain] = TrendState.from_json(data["state"])
            window = data.get("window")
            self._makers[domain] = WindowMaker(Window.from_json(window) if window else None)

    def look(
        self, now: float, canary_word: Callable[[str, float], CanaryWord | None] = lambda domain, since: None
    ) -> list[tuple[str, Action]]:
        """Take in what is new. `canary_word(domain, since)`: what a canary run said of the domain since then, if any."""
        done: list[tuple[str, Action]] = []
        for domain, window in self._new_windows(now):
            done += self._do(domain, judge(self.states[domain], window, now), now)
        for domain, state in self.states.items():
            if state.canary_asked_at:
                word = canary_word(domain, state.canary_asked_at)
                if word is not None:
                    done += self._do(domain, hear(state, word, now), now)
            done += self._do(domain, tick(state, now), now)
        self._keep(now)
        return done

    def _new_windows(self, now: float) -> list[tuple[str, Window]]:
        closed: list[tuple[str, Window]] = []
        taken = 0
        while taken < MAX_ROWS and (rows := self._frontier.read_log(self._after, _CHUNK)):
            taken += len(rows)
            self._after = rows[-1][0]
            for _, row in rows:
                maker = self._makers.get(row.domain)
                if maker is None:
                    maker = self._makers[row.domain] = WindowMaker()
                    self.states[row.domain] = TrendState(judged_at=now)
                window = maker.take(row)
                if window is not None:
                    closed.append((row.domain, window))
        for domain, maker in self._makers.items():
            if (window := maker.close(now)) is not None:
                closed.append((domain, window))
        return closed

    def _do(self, domain: str, actions: list[Action], now: float) -> list[tuple[str, Action]]:
        for action in actions:
            kind = _COMMANDS.get(action.kind)
            if kind is not None:
                self._ledger.send(Command(domain, kind, now, action.factor, action.until, action.reason))
        return [(domain, action) for action in actions]

    def _keep(self, now: float) -> None:
        domains = {}
        for domain, state in list(self.states.items()):
            window = self._makers[domain].open
            heard_at = max(state.judged_at, window.end if window is not None else 0.0)
            if state.forgettable and now - heard_at > FORGET_S:
                del self.states[domain], self._makers[domain]
                continue
            domains[domain] = {
                "state": state.to_json(),
                "window": window.to_json() if window is not None else None,
            }
        self._frontier.set_value(
            STATE_NAME, json.dumps({"after": self._after, "domains": domains}, separators=(",", ":"))
        )
