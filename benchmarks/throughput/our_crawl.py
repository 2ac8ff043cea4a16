"""Nights of the real product in a process of its own; prints one JSON line a night.

    python -m benchmarks.throughput.our_crawl FOLDER NIGHT DOMAIN=SEED… [--share N/M] [--frontier URL]

With `--share` this process crawls only every M-th domain, beginning with the N-th. `--frontier`: a server to share.

Defaults apart from `pace: unlimited`: durable, robots, dedup, fetch log, links, walls, page store. From the
second night on every page is asked for again, as if it were due.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import uvloop
import yaml

from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.installation import Installation

__all__ = ["installation", "main"]


def installation(folder: Path, seeds: dict[str, str]) -> Installation:
    """The site file and the data folder below `folder`."""
    sites = folder / "sites"
    sites.mkdir(parents=True, exist_ok=True)
    document = {
        "name": "bench",
        "domains": list(seeds),
        "seeds": list(seeds.values()),
        "identity": {"user_agent": "nightcrawl-bench/1.0 (+http://bench.example/)"},
        "pace": {"rate": "unlimited", "concurrency": 16},
        "limits": {"max_body": "50 MB"},
        "allow_private_addresses": ["127.0.0.0/8"],
        "items": {"page": {"fields": {"heading": {"css": "h1"}}}},
    }
    # Whole at every moment: several workers may start at once, and each writes it.
    draft = sites / f".bench.{os.getpid()}"
    draft.write_text(yaml.safe_dump(document, sort_keys=False))
    draft.replace(sites / "bench.yaml")
    return Installation.at(folder / "data", sites)


async def main(
    folder: Path, night: int, seeds: dict[str, str], share: tuple[int, int] = (0, 1), frontier: str = ""
) -> None:
    """Seed and crawl one night."""
    place = installation(folder, seeds)
    if frontier:
        place = replace(place, frontier=frontier, ledger=frontier)
    domains = tuple(seeds)[share[0] :: share[1]]
    begin, start_cpu = time.monotonic(), time.process_time()
    async with CrawlSession(place, f"night-{night}") as session:
        await session.seed(domains, force=night > 1)
        reports = await session.crawl(CrawlOrder(domains, f"night-{night}"))
    store = place.open_pages()
    counts = [store.counts(domain) for domain in domains]
    store.close()
    print(
        json.dumps(
            {
                "pages": sum(r.ok + r.not_modified for r in reports),
                "seconds": time.monotonic() - begin,
                "start_cpu": start_cpu,
                "body_bytes": sum(c[1] for c in counts),
                "stored_bytes": sum(c[2] for c in counts),
            }
        )
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="benchmarks.throughput.our_crawl", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("night", type=int)
    parser.add_argument("seeds", nargs="+")
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--frontier", default="")
    options = parser.parse_args()
    first, every = map(int, options.share.split("/"))
    pairs = dict(word.split("=", 1) for word in options.seeds)
    uvloop.run(main(options.folder, options.night, pairs, (first, every), options.frontier))
