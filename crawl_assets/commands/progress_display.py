"""The live progress of a night: a table that redraws itself on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from .night_watch import NightWatch
from .terminal import count, span

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from resources.crawler.progress import Progress

__all__ = ["ProgressDisplay", "progress_line"]

#: Calm enough to read, quick enough to see a slowdown; a redraw costs some 2 ms.
REDRAW_S = 0.5
#: A plain line this often: a log of an hour then has 720 lines. The first lines come sooner.
PLAIN_EVERY_S = 5.0
#: Domains shown at once; the others are in the totals.
SHOWN = 14


def progress_line(stage: str, seconds: float, progress: Progress | None) -> str:
    """One plain line: everything the live table's head says."""
    if progress is None:
        return f"{seconds:6.1f}s  {stage}"
    parts = [
        f"{seconds:6.1f}s  {stage}",
        f"pages {count(progress.pages)}",
        f"queue {count(progress.queue)}",
        f"{progress.rate:.1f}/s",
        f"errors {count(progress.errors)}",
        f"429 {count(progress.throttled)}",
        f"not modified {count(progress.not_modified)}",
        f"ETA {span(progress.eta_s)}",
    ]
    return "  ".join(parts) + (f"  [{progress.trouble}]" if progress.trouble else "")


class ProgressDisplay:
    """`with ProgressDisplay(watch) as display: while …: display.show()`."""

    def __init__(self, watch: NightWatch) -> None:
        self._watch = watch
        self._began = time.monotonic()
        self._next_line = 1.0
        self._live: Live | None = None

    def __enter__(self) -> ProgressDisplay:
        if sys.stdout.isatty():
            from rich.live import Live

            self._live = Live(auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
        elif self._watch.progress() is not None:
            self._line()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def show(self) -> None:
        """Redraw, or print a line if it is time; call it every `REDRAW_S`."""
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
        elif self.seconds >= self._next_line:
            self._next_line = self.seconds + min(PLAIN_EVERY_S, 1.0 + self.seconds / 2)
            self._line()

    def _line(self) -> None:
        print(progress_line(self._watch.stage, self.seconds, self._watch.progress()), flush=True)

    def _table(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        progress = self._watch.progress()
        head = Text(progress_line(self._watch.stage, self.seconds, progress), style="bold")
        if progress is None:
            return head
        shown = Table(box=None, pad_edge=False, header_style="dim")
        for name in ("domain", "pages", "queue", "in flight", "rate", "errors", "429", ""):
            shown.add_column(name, justify="left" if name in ("domain", "") else "right")
        by_need = sorted(progress.domains, key=lambda d: (bool(d.end), -d.queue))
        for d in by_need[:SHOWN]:
            shown.add_row(
                Text(d.domain), count(d.pages), "–" if d.end else count(d.queue), str(d.in_flight), f"{d.rate:.1f}/s", count(d.errors),
                count(d.throttled), d.end,
            )  # fmt: skip
        more = len(by_need) - SHOWN
        return Group(head, shown, Text(f"… and {more} more domains" if more > 0 else ""))
