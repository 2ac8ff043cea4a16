"""Runs one complete night over some domains in this process, with the display in front of it.

`run_night` is the one place that knows how a night is carried out; `crawl` and `retry` only say what they want.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .night_watch import NightWatch
from .progress_display import REDRAW_S, ProgressDisplay

if TYPE_CHECKING:
    from resources.installation import Installation

__all__ = ["NightOrder", "NightOutcome", "run_night"]


@dataclass(frozen=True, slots=True)
class NightOrder:
    """What a night is to do. `max_pages` is per domain."""

    domains: tuple[str, ...]
    max_pages: int | None = None
    minutes: float | None = None
    force: bool = False
    retry_only: bool = False
    causes: tuple[str, ...] = ()


@dataclass(slots=True)
class NightOutcome:
    """How it went; `failed`: why, by domain."""

    watch: NightWatch
    started_at: float
    seconds: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def run_night(installation: Installation, order: NightOrder) -> NightOutcome:
    """Carry out `order`, showing progress. Raises what stopped it as a whole (storage, site files)."""
    watch = NightWatch()
    outcome = NightOutcome(watch, time.time())
    thread = _Worker(lambda: _through_graph(installation, order, outcome))
    with watch.watching(), ProgressDisplay(watch) as display:
        thread.start()
        while thread.is_alive():
            thread.join(REDRAW_S)
            display.show()
        outcome.seconds = display.seconds
    if thread.error is not None:
        raise thread.error
    return outcome


class _Worker(threading.Thread):
    """A thread that keeps what it failed with."""

    def __init__(self, work: Callable[[], None]) -> None:
        # A daemon: a second signal ends the process without waiting for it.
        super().__init__(name="nightcrawl-night", daemon=True)
        self._work = work
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self.error = error


def _through_graph(installation: Installation, order: NightOrder, outcome: NightOutcome) -> None:
    from .graph_run import run_graph

    config: dict[str, Any] = {
        "force": order.force,
        "max_pages": order.max_pages,
        "max_minutes": order.minutes,
    }
    if order.retry_only:
        config = {"causes": list(order.causes), "retry_all": order.force}
    watch = outcome.watch
    found = run_graph(
        installation,
        "retry" if order.retry_only else "night",
        order.domains,
        config,
        on_run=watch.when_stopped,
    )
    outcome.failed, outcome.problems = found.fallen, found.findings
