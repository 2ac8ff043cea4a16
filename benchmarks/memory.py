"""Whether a crawl's memory stays what it was: resident size every few thousand pages of one long night.

    python -m benchmarks.memory [--pages 100000] [--from-page 20000] [--work DIR]

Made pages of 10 KB with 50 links, on as many domains as they need, unlimited pace. Prints the resident size of the
crawling process as it goes and how the last compares with that at `--from-page`.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
from pathlib import Path

import uvloop

from benchmarks.measured import measured
from benchmarks.pacer import resident_mb
from benchmarks.real_docs.server import serve
from benchmarks.throughput.our_crawl import installation
from benchmarks.throughput.page_sets import made
from resources.crawler.crawl import Crawl
from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession

_A_SITE = 12_500
_EVERY_S = 2.0


async def _watch(crawl: Crawl, seen: list[tuple[int, float]]) -> None:
    while True:
        await asyncio.sleep(_EVERY_S)
        seen.append((sum(lane.report.ok for lane in crawl.lanes.values()), resident_mb()))
        print(f"{seen[-1][0]:>8,} pages: {seen[-1][1]:,.0f} MB", flush=True)


async def _night(work: Path, seeds: dict[str, str]) -> list[tuple[int, float]]:
    seen: list[tuple[int, float]] = []
    watching: list[asyncio.Task[None]] = []
    place = installation(work / "crawl", seeds)
    async with CrawlSession(place, "night") as session:
        await session.seed(tuple(seeds))
        await session.crawl(
            CrawlOrder(tuple(seeds), "night"),
            on_start=lambda crawl: watching.append(asyncio.create_task(_watch(crawl, seen))),
        )
        for task in watching:
            task.cancel()
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.memory", description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--from-page", type=int, default=20_000)
    parser.add_argument("--work", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memory-") as temporary:
        work = options.work or Path(temporary)
        shutil.rmtree(work / "crawl", ignore_errors=True)
        pages = made(work, options.pages, max(1, options.pages // _A_SITE))
        with serve(work / "nginx", packages=pages.packages):
            seen = uvloop.run(_night(work, pages.seeds))
    measured(seen[-1][0] if seen else 0, "memory")
    if seen[-1][0] < options.from_page:
        raise RuntimeError(f"only {seen[-1][0]:,} pages: nothing to compare with {options.from_page:,}")
    early = next(size for count, size in seen if count >= options.from_page)
    count, late = seen[-1]
    print(
        f"after {options.from_page:,} pages {early:,.0f} MB, after {count:,} {late:,.0f} MB: {late / early - 1:+.1%}"
    )


if __name__ == "__main__":
    main()
