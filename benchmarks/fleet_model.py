"""How long a crawl takes, and how many workers it needs: a discrete-event model, and its check against real workers.

    python -m benchmarks.fleet_model                     the tables of docs/scale.md
    python -m benchmarks.fleet_model --urls 5e6 --domains 2000 --workers 4
    python -m benchmarks.fleet_model --check             real workers on loopback beside the prediction (3 minutes)

The model. Domain d has n pages and lets r pages a second go (its pace). A worker serves at most L domains at once and
fetches at most m pages a second (its CPU). W workers take domains in random order as places become free; a domain that
is done frees its place. Where the paces of all open domains exceed W·m, what there is is shared evenly (each gets the
lesser of its pace and the common share). Events are the ends of domains; between them everything is linear.

The formula, a lower bound that the model stays close to as long as no single domain is the whole crawl:

    T ≥ max( max(n/r),  Σn / (W·m),  Σ(n/r) / (W·L) )
             pace        CPU          places

so a longer night is bought by more workers only while the second or third term is the largest. What any fleet can
fetch politely in H seconds is Σ min(n, r·H); workers for it: W = that / (H·m).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resources.installation import Installation

__all__ = ["Crawl", "Outcome", "bound", "simulate", "web"]

Floats = npt.NDArray[np.float64]

#: Pages a second of one worker process on one core: 1.0 CPU s per 1,000 pages of 25 KB is the product's budget, and
#: half of it is left for Redis, S3 and pages that are larger.
PAGES_A_SECOND = 500.0
#: `nightcrawl worker --domains-at-once`.
PLACES = 256
NIGHT_S = 8 * 3600.0
#: Domains that end within that share of the shortest remaining time end together: keeps events to some thousands.
TOGETHER = 1.02


@dataclass(frozen=True, slots=True)
class Crawl:
    """`pages` and `rates` (pages a second) by domain."""

    pages: Floats
    rates: Floats

    @property
    def total(self) -> float:
        return float(self.pages.sum())


@dataclass(frozen=True, slots=True)
class Outcome:
    """`seconds` until everything is fetched; `curve`: (seconds, pages fetched until then), from the events."""

    seconds: float
    curve: tuple[tuple[float, float], ...]
    events: int

    def pages_at(self, seconds: float) -> float:
        times, pages = zip(*self.curve, strict=True)
        return float(np.interp(seconds, times, pages))

    def until(self, share: float) -> float:
        """Seconds until that share of all pages is fetched."""
        times, pages = zip(*self.curve, strict=True)
        return float(np.interp(share * pages[-1], pages, times))


def web(urls: float, domains: int, *, seed: int = 1, tail: float = 1.1) -> Crawl:
    """A web with a long tail: sizes by Pareto (`tail` 1.1: a percent of the domains has most pages), paces lognormal
    around 2 pages a second between one a minute and 20 a second, larger sites faster by the cube root of their size.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.pareto(tail, domains) + 1.0
    sizes = np.minimum(sizes, np.quantile(sizes, 1 - 1 / domains) if domains > 10 else sizes.max())
    pages = np.maximum(1.0, sizes * urls / sizes.sum())
    rates = rng.lognormal(np.log(2.0), 0.7, domains) * np.cbrt(pages / pages.mean())
    return Crawl(pages, np.clip(rates, 1 / 60, 20.0))


def bound(
    crawl: Crawl, workers: int, m: float = PAGES_A_SECOND, places: int = PLACES
) -> tuple[float, float, float]:
    """The three terms of the formula, in seconds: pace, CPU, places."""
    times = crawl.pages / crawl.rates
    return float(times.max()), crawl.total / (workers * m), float(times.sum()) / (workers * places)


def share_out(rates: Floats, capacity: float) -> Floats:
    """Each gets the lesser of its rate and a common share, so that all of `capacity` is used, or all rates are met."""
    if rates.sum() <= capacity:
        return rates
    ordered = np.sort(rates)
    before = np.concatenate(([0.0], np.cumsum(ordered)[:-1]))
    shares = (capacity - before) / np.arange(len(ordered), 0, -1)
    level = float(shares[np.argmax(shares <= ordered)])
    shared: Floats = np.minimum(rates, level)
    return shared


def simulate(
    crawl: Crawl,
    workers: int,
    m: float = PAGES_A_SECOND,
    places: int = PLACES,
    *,
    seed: int = 1,
    start_s: float = 0.0,
) -> Outcome:
    """Run the model to the end. `start_s`: what starting, seeding and robots.txt take before the first page."""
    order = np.random.default_rng(seed).permutation(len(crawl.pages))
    pages, rates = crawl.pages[order], crawl.rates[order]
    room = workers * places
    left, speed = pages[:room].copy(), rates[:room].copy()
    waiting = room
    now, fetched, events = start_s, 0.0, 0
    curve = [(0.0, 0.0), (now, 0.0)]
    while len(left):
        flow = share_out(speed, workers * m)
        times = left / flow
        step = float(times.min())
        # Those that end at about the same time are one event; none gets more than it has.
        step = step if len(left) < 50 else min(step * TOGETHER + 1e-3, float(times.max()))
        moved = np.minimum(left, flow * step)
        left = left - moved
        now, fetched, events = now + step, fetched + float(moved.sum()), events + 1
        curve.append((now, fetched))
        going = left > 1e-9
        ended = int(len(left) - going.sum())
        left, speed = left[going], speed[going]
        if ended and waiting < len(pages):
            more = slice(waiting, waiting + ended)
            left, speed = np.concatenate((left, pages[more])), np.concatenate((speed, rates[more]))
            waiting += ended
    return Outcome(now, tuple(curve), events)


# -- the tables --------------------------------------------------------------------------------------------------------
def table(urls: float, domains: int, fleets: Sequence[int], m: float, places: int) -> list[dict[str, object]]:
    """One row a fleet. More than 100,000 domains are drawn as a sample of that many, fleet and pages scaled alike."""
    scale = max(1.0, domains / 100_000)
    crawl = web(urls / scale, int(domains / scale))
    polite = float(np.minimum(crawl.pages, crawl.rates * NIGHT_S).sum()) * scale
    rows: list[dict[str, object]] = []
    for workers in fleets:
        own = max(1, round(workers / scale))
        outcome = simulate(crawl, own, m * workers / scale / own, places)
        pace, cpu, room = bound(crawl, own, m * workers / scale / own, places)
        rows.append(
            {
                "urls": urls,
                "domains": domains,
                "workers": workers,
                "bound_h": round(max(pace, cpu, room) / 3600, 1),
                "bound_by": ("pace", "CPU", "places")[int(np.argmax((pace, cpu, room)))],
                "model_h": round(outcome.seconds / 3600, 1),
                "90%_h": round(outcome.until(0.9) / 3600, 1),
                "99%_h": round(outcome.until(0.99) / 3600, 1),
                "first_night_%": round(100 * outcome.pages_at(NIGHT_S) / crawl.total, 1),
                "polite_night_%": round(100 * polite / urls, 1),
            }
        )
    return rows


SCALES = (
    (10e6, 5_000, (2, 8, 32)),
    (100e6, 50_000, (8, 32, 128)),
    (10e9, 2_000_000, (400, 1600, 4800)),
)


# -- the check ---------------------------------------------------------------------------------------------------------
#: Sizes of the practice sites: two large ones, many small ones.
SITES = (120, 120, 40, 40, 20, 20, 20, 10, 10, 10)
RATE = 10.0
#: A place that becomes free is taken at the next look, half of `roaming.LOOK_S` later on average; opening a domain
#: takes its robots.txt.
TURNOVER_S = 2.0
#: Starting Python, connecting, and the last look that finds nothing.
START_S = 4.0


def check(folder: Path) -> list[dict[str, object]]:
    """Real worker processes on practice sites of different sizes; what they took, and what the model says."""
    from practice_site import SiteConfig, practice_web_process
    from practice_site.site_file import site_yaml
    from tests.deploy.fleet import Fleet
    from tests.fleet.servers import RedisServer

    rows: list[dict[str, object]] = []
    for workers, places in ((1, 2), (2, 2), (1, 10), (2, 10)):
        own = folder / f"{workers}x{places}"
        (own / "sites").mkdir(parents=True)
        configs = [SiteConfig(n_products=n, host=f"127.0.0.{at + 2}") for at, n in enumerate(SITES)]
        with practice_web_process(configs, interlinked=False) as sites:
            fleet = Fleet(own, sites, RedisServer())
            pace = {"rate": RATE, "ramp_up": 0}
            (own / "sites" / "practice.yaml").write_text(site_yaml(fleet.domains, changes={"pace": pace}))
            asyncio.run(_seed(fleet.installation, fleet.domains))
            started = time.perf_counter()
            words = ("--idle-close", "0", "--domains-at-once", str(places))
            crew = [fleet.nightcrawl("worker", *words) for _ in range(workers)]
            for worker in crew:
                worker.wait()
            took = time.perf_counter() - started
            pages = np.array([fleet.counts()[domain].done for domain in fleet.domains], dtype=float)
            fleet.redis.stop()
        crawl = Crawl(pages + RATE * TURNOVER_S, np.full(len(pages), RATE))
        outcomes = [
            simulate(crawl, workers, PAGES_A_SECOND, places, seed=n, start_s=START_S) for n in range(20)
        ]
        rows.append(
            {
                "workers": workers,
                "places": places,
                "pages": int(pages.sum()),
                "bound_s": round(max(bound(crawl, workers, PAGES_A_SECOND, places)) + START_S, 1),
                "model_s": round(float(np.mean([outcome.seconds for outcome in outcomes])), 1),
                "measured_s": round(took, 1),
            }
        )
    return rows


async def _seed(installation: Installation, domains: Sequence[str]) -> None:
    from resources.crawler.session import CrawlSession

    async with CrawlSession(installation, "seeding") as session:
        await session.seed(domains)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--urls", type=float)
    parser.add_argument("--domains", type=int, default=5_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 8, 32])
    parser.add_argument("--pages-a-second", type=float, default=PAGES_A_SECOND, help="of one worker")
    parser.add_argument("--places", type=int, default=PLACES, help="domains a worker serves at once")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        with tempfile.TemporaryDirectory() as folder:
            rows = check(Path(folder))
    elif options.urls:
        rows = table(options.urls, options.domains, options.workers, options.pages_a_second, options.places)
    else:
        rows = [
            row
            for urls, domains, fleets in SCALES
            for row in table(urls, domains, fleets, options.pages_a_second, options.places)
        ]
    for row in rows:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
