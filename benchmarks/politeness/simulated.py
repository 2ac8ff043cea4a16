"""The pacing against simulated servers, many seeds, in virtual time: minutes of nights in seconds.

    python -m benchmarks.politeness.simulated [--seeds 20] [--pages 2000] [--plots docs/images]

One line a server: the worst seed of pages lost, 429s, goodput against what is permitted (whole crawl, and after the
first tenth), bans, and 429s in the first minute of the second night. Default settings, nothing configured. Ends
with status 1 when a bar is missed. `--plots` writes one PNG a limiter: rate, 429s and goodput over time (needs
matplotlib). The servers are those of the tests; the same limits behind a real nginx are measured beside this file.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from resources.pacing.ledger.memory import MemoryLedger
from tests.pacing.simulated_servers import (
    Banner,
    CollapsingServer,
    Crawl,
    FixedWindow,
    LeakyBucket,
    Server,
    SlidingWindow,
    TokenBucket,
    crawl,
)

__all__ = ["main"]

_DAY_S = 86_400.0
_START = 1_700_000_000.0
_LEARNED_FROM = 0.1  # share of the pages


@dataclass(frozen=True)
class Case:
    """A server, what it permits (pages per second), and whether the bars are promised for it."""

    name: str
    permitted: float
    make: Callable[[random.Random], Server]
    promised: bool = True
    rtt_s: float = 0.0005


def _nginx(rate: float, nodelay: bool, retry_after: float | None) -> Case:
    told = "Retry-After: 1" if retry_after else "no Retry-After"
    mode = "nodelay" if nodelay else "delay"

    def make(rng: random.Random) -> Server:
        return Banner(LeakyBucket(rate=rate, burst=5, nodelay=nodelay, retry_after_s=retry_after, rng=rng))

    return Case(f"nginx {rate:g} r/s burst 5 {mode}, {told}", rate, make)


def _collapsing(penalty: float, rng: random.Random) -> Server:
    del rng  # its service time is fixed
    return CollapsingServer(4, 0.05, penalty)


def _cases() -> list[Case]:
    bars = [
        _nginx(rate, nodelay, retry_after)
        for rate in (5.0, 20.0, 100.0)
        for nodelay in (True, False)
        for retry_after in (1.0, None)
    ]
    bars += [
        Case(f"peak at 4 connections, collapses by {penalty:g}", 80.0, partial(_collapsing, penalty))
        for penalty in (0.0, 0.5, 3.0)
    ]
    others = [
        Case("nginx 37 r/s burst 8", 37.0, lambda rng: LeakyBucket(rate=37, burst=8, rng=rng), False),
        Case(
            "nginx 2 r/s burst 5, 100 ms away",
            2.0,
            lambda rng: LeakyBucket(rate=2, burst=5, rng=rng),
            False,
            0.1,
        ),
        Case("token bucket 10 r/s of 10", 10.0, lambda rng: TokenBucket(rate=10, size=10, rng=rng), False),
        Case("100 a minute by the clock", 100 / 60, lambda rng: FixedWindow(rng=rng), False),
        Case("100 in any minute", 100 / 60, lambda rng: SlidingWindow(rng=rng), False),
    ]
    return bars + others


@dataclass
class Worst:
    """The worst of all seeds."""

    lost: int = 0
    share: float = 0.0
    throttled: int = 0
    whole: float = 9.9
    learned: float = 9.9
    bans: int = 0
    second: int = 0

    def add(self, case: Case, server: Server, first: Crawl, second: Crawl) -> None:
        self.lost = max(self.lost, first.lost)
        self.throttled = max(self.throttled, first.throttled)
        self.share = max(self.share, first.throttled / len(first.sent))
        self.whole = min(self.whole, first.goodput / case.permitted)
        self.learned = min(self.learned, first.goodput_from(_LEARNED_FROM) / case.permitted)
        self.bans = max(self.bans, getattr(server, "bans", 0))
        minute = [1 for at, status in second.arrivals if status == 429 and at < _START + _DAY_S + 60]
        self.second = max(self.second, len(minute))

    def missed(self) -> list[str]:
        """The bars that are not reached."""
        bars = {
            "pages lost": self.lost > 0,
            "429s above 1 %": self.share > 0.01,
            "less than 90 % on the whole": self.whole < 0.90,
            "less than 95 % once learned": self.learned < 0.95,
            "banned": self.bans > 0,
            "a 429 in the first minute of the second night": self.second > 0,
        }
        return [name for name, miss in bars.items() if miss]


def main(arguments: list[str] | None = None) -> int:
    """Run all cases; 0 when every promised bar is reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--plots", type=Path, help="folder for one PNG a limiter")
    options = parser.parse_args(arguments)
    failures = 0
    print(f"{'server':46} {'lost':>4} {'429s':>5} {'whole':>6} {'learned':>7} {'bans':>4} {'2nd night':>9}")
    for case in _cases():
        worst = Worst()
        for seed in range(options.seeds):
            server, first, second = _two_nights(case, options.pages, seed)
            worst.add(case, server, first, second)
            if seed == 0 and options.plots:
                _plot(case, first, options.plots)
        missed = worst.missed() if case.promised else []
        failures += bool(missed)
        print(
            f"{case.name:46} {worst.lost:4} {worst.throttled:5} {worst.whole:6.1%} {worst.learned:7.1%}"
            f" {worst.bans:4} {worst.second:9}{'  MISSED: ' + ', '.join(missed) if missed else ''}",
            flush=True,
        )
    return 1 if failures else 0


def _two_nights(case: Case, pages: int, seed: int) -> tuple[Server, Crawl, Crawl]:
    server, ledger = case.make(random.Random(seed)), MemoryLedger()
    noise = case.rtt_s * 0.3
    first = crawl(server, pages, seed=seed, ledger=ledger, rtt_s=case.rtt_s, noise_s=noise, observe=1)
    minute = max(100, int(case.permitted * 65))
    second = crawl(
        server,
        minute,
        seed=seed + 1000,
        ledger=ledger,
        rtt_s=case.rtt_s,
        noise_s=noise,
        start=_START + _DAY_S,
    )
    return server, first, second


def _plot(case: Case, night: Crawl, folder: Path) -> None:
    try:
        import matplotlib
    except ImportError:
        sys.exit("--plots needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    start = night.arrivals[0][0]
    good = [at - start for at, status in night.arrivals if status == 200]
    refused = [at - start for at, status in night.arrivals if status in (429, 503)]
    width = max(0.5, good[-1] / 80)
    edges = [width * step for step in range(int(good[-1] / width) + 1)]
    counts = [0] * len(edges)
    for at in good:
        counts[min(len(edges) - 1, int(at / width))] += 1
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    axes.step(edges, [count / width for count in counts], where="post", label="goodput", color="tab:blue")
    seconds, rates = zip(*night.rates, strict=True)
    axes.plot(seconds, rates, label="rate in force", color="tab:orange", linewidth=1)
    axes.axhline(case.permitted, label="permitted", color="tab:green", linestyle="--", linewidth=1)
    axes.plot(refused, [case.permitted] * len(refused), "x", label=f"{len(refused)} × 429", color="tab:red")
    axes.set(title=case.name, xlabel="seconds", ylabel="requests per second", ylim=(0, case.permitted * 1.6))
    axes.legend(loc="lower right", fontsize="small")
    name = "".join(letter if letter.isalnum() else "-" for letter in case.name.lower())
    figure.savefig(folder / f"pace-{'-'.join(part for part in name.split('-') if part)}.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    raise SystemExit(main())
