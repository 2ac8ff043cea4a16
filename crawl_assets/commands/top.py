"""`nightcrawl top`: the crawl as it goes, read from the shared frontier: any terminal, any machine, over ssh."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from .terminal import count, say, say_json, share, span

if TYPE_CHECKING:
    from rich.console import RenderableType

    from resources.frontier.base import Frontier
    from resources.health.metrics import Health
    from resources.installation import Installation

__all__ = ["top"]


def top(
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 2.0,
    looks: Annotated[int, typer.Option(min=0, help="End after so many looks; 0 never does.")] = 0,
    window: Annotated[float, typer.Option(min=1.0, help="Seconds the rates are taken over.")] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document a look.")] = False,
) -> None:
    """Watch: queue, seen, rate, ETA, workers, the slowest and the sickest domains. Plain lines when piped."""
    from resources.installation import Installation

    installation = Installation.from_environment().prepare()
    frontier = installation.open_frontier()
    try:
        view = _View(installation, frontier, window)
        if as_json or not sys.stdout.isatty():
            _plainly(view, every, looks, as_json)
        else:
            _live(view, every, looks)
    except KeyboardInterrupt:
        pass  # how one leaves it
    finally:
        frontier.close()


def _plainly(view: _View, every: float, looks: int, as_json: bool) -> None:
    """Without a number of looks, one: a pipe wants an answer."""
    for look in range(looks or 1):
        if look:
            time.sleep(every)
        view.look()
        if as_json:
            say_json(view.as_json())
        else:
            for line in view.lines():
                say(line)
        sys.stdout.flush()


def _live(view: _View, every: float, looks: int) -> None:
    from rich.live import Live

    look = 0
    with Live(auto_refresh=False, screen=looks == 0) as live:
        while looks == 0 or look < looks:
            view.look()
            live.update(view.table(), refresh=True)
            time.sleep(every)
            look += 1


class _View:
    """One look after the other. Costs a read of the counters and of the log rows that are new since the last."""

    def __init__(self, installation: Installation, frontier: Frontier, window: float) -> None:
        self._installation = installation
        self._frontier = frontier
        from resources.health.rolling import RollingHealth

        self._health = RollingHealth(frontier, window)
        self._pace: dict[str, str] = {}

    def look(self) -> None:
        self.now = time.time()
        self.counts = dict(self._frontier.all_counts())
        self.workers = self._frontier.workers(self.now)
        self._health.look(self.now)
        ledger = self._installation.open_ledger()
        try:
            for row in ledger.all():
                wait = max(row.owed_until, row.breaker_until) - self.now
                rate = f"{row.rate:.2f}/s" if row.rate is not None else ""
                if self.now < row.slow_until and row.slow_factor < 1:
                    rate = f"{row.slow_factor:.0%} of {rate or 'its rate'}: {row.slow_reason}"
                # 1. paused  2. waiting  3. its rate
                if row.paused_cause:
                    rate = f"paused: {row.paused_cause}"
                elif wait > 0:
                    rate = f"waits {span(wait)}{': ' + row.breaker_cause if row.breaker_cause else ''}"
                self._pace[row.domain] = rate
        finally:
            ledger.close()

    @property
    def totals(self) -> dict[str, float | None]:
        health = self._health.overall
        rates = {name: self._health.rate(name) for name in self._health.domains}
        # The night ends when the slowest of the domains that move does.
        etas = [self.counts[n].pending / r for n, r in rates.items() if r > 0 and n in self.counts]
        return {
            "seen": sum(c.discovered for c in self.counts.values()),
            "queue": sum(c.pending for c in self.counts.values()),
            "leased": sum(c.leased for c in self.counts.values()),
            "failed": sum(c.failed for c in self.counts.values()),
            "rate": health.requests / self._health.covered,
            "eta_s": max(etas) if etas else None,
            "workers": len(self.workers),
            **_numbers(health),
        }

    def slowest(self, n: int) -> list[str]:
        """Domains with a queue, by how long it will take at the rate of the window."""
        waiting = [name for name, c in self.counts.items() if c.pending]
        return sorted(waiting, key=lambda name: -self._time_left(name))[:n]

    def _time_left(self, name: str) -> float:
        rate = max(self._health.rate(name), 0.1 / self._health.seconds)
        return self.counts[name].pending / rate

    def sickest(self, n: int) -> list[str]:
        """Domains in trouble, those that look like a ban first."""
        ill = [name for name, health in self._health.domains.items() if health.sickness]
        return sorted(ill, key=lambda name: -self._health.domains[name].sickness)[:n]

    def lines(self) -> list[str]:
        t, health = self.totals, self._health.overall
        head = (
            f"seen {count(t['seen'] or 0)}  queue {count(t['queue'] or 0)}  {t['rate'] or 0.0:.1f}/s  "
            f"ETA {span(t['eta_s'])}  workers {count(t['workers'] or 0)}  in the last {self._health.covered:.0f} s: "
            f"requests {count(health.requests)}, 429 {count(health.status_429)} "
            f"({share(health.status_429, health.requests)}), 403 {count(health.status_403)}, "
            f"5xx {count(health.status_5xx)}, timeouts {count(health.timeouts)}, retries {count(health.retries)}, "
            f"walls {count(health.walls)}, cache hits {share(health.cache_hits, health.pages)}"
        )
        lines = [head]
        lines += [f"worker {w.worker}: {w.doing or 'idle'}, {count(w.pages)} pages" for w in self.workers]
        lines += [f"slowest {self._words(name)}" for name in self.slowest(5)]
        lines += [
            f"sickest {self._words(name)}: {self._health.domains[name].words()}" for name in self.sickest(5)
        ]
        return lines

    def _words(self, name: str) -> str:
        counts, rate = self.counts.get(name), self._health.rate(name)
        left = span(self._time_left(name)) if counts is not None and counts.pending and rate else "–"
        pending = count(counts.pending) if counts is not None else "–"
        return f"{name}: queue {pending}, {rate:.1f}/s, ETA {left}, pace {self._pace.get(name) or '–'}"

    def as_json(self) -> dict[str, object]:
        return {
            "at": self.now,
            "window_s": self._health.covered,
            **self.totals,
            "by_worker": [{"worker": w.worker, "doing": w.doing, "pages": w.pages, "at": w.at} for w in self.workers],
            "domains": {
                name: {
                    "pending": c.pending, "leased": c.leased, "done": c.done, "failed": c.failed, "excluded": c.excluded,
                    "pace": self._pace.get(name, ""),
                    **(_numbers(health) | {"rate": self._health.rate(name)} if (health := self._health.domains.get(name)) else {}),
                }
                for name, c in self.counts.items()
            },
            "slowest": self.slowest(5),
            "sickest": self.sickest(5),
        }  # fmt: skip

    def table(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        head, *rest = self.lines()
        shown = Table(box=None, pad_edge=False, header_style="dim")
        for title in (
            "domain",
            "queue",
            "done",
            "failed",
            "rate",
            "429",
            "403",
            "5xx",
            "time-outs",
            "walls",
            "pace",
        ):
            shown.add_column(title, justify="left" if title in ("domain", "pace") else "right")
        busy = sorted(
            self.counts, key=lambda name: (name not in self._health.domains, -self.counts[name].pending)
        )
        for name in busy[:20]:
            c, health = self.counts[name], self._health.domains.get(name)
            numbers = (
                (health.status_429, health.status_403, health.status_5xx, health.timeouts, health.walls)
                if health is not None
                else (0, 0, 0, 0, 0)
            )
            rate = f"{self._health.rate(name):.1f}/s" if health is not None else "–"
            shown.add_row(
                Text(name), count(c.pending), count(c.done), count(c.failed), rate, *map(count, numbers),
                self._pace.get(name, ""),
            )  # fmt: skip
        return Group(Text(head, style="bold"), shown, *(Text(line, style="dim") for line in rest))


def _numbers(health: Health) -> dict[str, float]:
    """The five metrics as JSON: throughput, errors by class, 429s and retries, cache hits, signs of a ban."""
    return {
        "requests": health.requests,
        "pages": health.pages,
        "status_403": health.status_403,
        "status_429": health.status_429,
        "status_5xx": health.status_5xx,
        "timeouts": health.timeouts,
        "share_429": health.share_429,
        "retries": health.retries,
        "cache_hit_rate": health.hit_rate,
        "ban_signals": health.ban_signals,
        "walls": health.walls,
    }
