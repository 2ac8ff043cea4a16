"""Follows the crawls of this process from outside: what they do now, what they reported, and how to stop them.

The night runs in a thread of its own; this object lives in the main thread, which has the display and the
signals. The first signal lets in-flight requests end and everything be written, a second one ends the process:
what was not written then is fetched again next time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .exit_codes import ExitCode

if TYPE_CHECKING:
    from resources.crawler.crawl import Crawl
    from resources.crawler.order import DomainReport
    from resources.crawler.progress import Progress

__all__ = ["NightWatch"]


class NightWatch:
    """`with watch.watching(): …`; `progress()` for the display, `reports()` afterwards."""

    def __init__(self) -> None:
        self.stopped_by: int | None = None
        self._crawls: list[tuple[Crawl, asyncio.AbstractEventLoop]] = []
        self._on_stop: Callable[[], None] | None = None

    # -- the crawls ----------------------------------------------------------------------------------
    @contextmanager
    def watching(self) -> Iterator[NightWatch]:
        """Hear of every crawl that starts, and take SIGINT and SIGTERM, while the block runs."""
        from resources.crawler.watch import watching

        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number in before:
            signal.signal(number, lambda number, frame: self.stop(number))
        try:
            with watching(self._started):
                yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _started(self, crawl: Crawl) -> None:
        self._crawls.append((crawl, asyncio.get_running_loop()))
        if self.stopped_by is not None:
            crawl.stop.set()

    def progress(self) -> Progress | None:
        """The crawl that runs now, or the last one; None before the first."""
        return self._crawls[-1][0].progress() if self._crawls else None

    @property
    def stage(self) -> str:
        """What goes on, in a word. Numbered cases: 1. stopping; 2. before the crawl; 3. in it; 4. after it."""
        if self.stopped_by is not None:
            return "stopping"
        if not self._crawls:
            return "seeding"
        crawl = self._crawls[-1][0]
        if crawl.lanes and all(lane.closed for lane in list(crawl.lanes.values())):
            return "tables"
        return "retrying" if crawl.order.stage == "retry" else "fetching"

    def reports(self) -> dict[str, list[DomainReport]]:
        """What each crawl said of each domain, in the order of the crawls."""
        found: dict[str, list[DomainReport]] = {}
        for crawl, _ in self._crawls:
            for domain, lane in crawl.lanes.items():
                found.setdefault(domain, []).append(lane.report)
        return found

    # -- the end -------------------------------------------------------------------------------------
    def stop(self, number: int) -> None:
        """Let the night end early; called again, end the process at once."""
        if self.stopped_by is not None:
            os.write(sys.stderr.fileno(), b"stopped at once: what was not written yet is fetched again\n")
            os._exit(128 + number)
        self.stopped_by = number
        os.write(sys.stderr.fileno(), b"stopping: requests in flight may end, then everything is kept\n")
        for crawl, loop in self._crawls:
            if not loop.is_closed():
                loop.call_soon_threadsafe(crawl.stop.set)
        if self._on_stop is not None:
            threading.Thread(target=self._on_stop, daemon=True).start()

    def when_stopped(self, tell: Callable[[], None]) -> None:
        """Also call `tell` (in a thread) when the night is stopped: there may be no crawl to stop yet."""
        self._on_stop = tell
        if self.stopped_by is not None:
            tell()

    @property
    def exit_code(self) -> ExitCode | None:
        """The code of the signal that ended the night, if one did."""
        if self.stopped_by is None:
            return None
        return ExitCode.INTERRUPTED if self.stopped_by == signal.SIGINT else ExitCode.TERMINATED
