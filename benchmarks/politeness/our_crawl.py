"""One night of the real product in a process of its own, with a site file that says nothing about pace.

    python -m benchmarks.politeness.our_crawl DATA DOMAIN RUN [MAX_PAGES]

Writes the events of pacing as lines of `seconds kind rate detail` to `DATA/events-RUN.txt`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import yaml

from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.installation import Installation
from resources.pacing.base import PaceEvent

__all__ = ["main"]


async def main(data: Path, domain: str, run_id: str, max_pages: int | None) -> None:
    """Seed and crawl. `force`: a second night asks for pages that are still fresh."""
    sites = data / "sites"
    sites.mkdir(parents=True, exist_ok=True)
    document = {
        "name": "limited",
        "domains": [domain],
        "seeds": [f"http://{domain}/"],
        "identity": {"user_agent": "nightcrawl-bench/1.0 (+http://bench.example/)"},
        "allow_private_addresses": ["127.0.0.0/8"],
    }
    (sites / "limited.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    with (data / f"events-{run_id}.txt").open("w") as told:

        def tell(event: PaceEvent) -> None:
            told.write(f"{event.at:.3f} {event.kind} {event.rate or 0:.4g} {event.detail}\n")

        async with CrawlSession(Installation.at(data, sites), run_id) as session:
            await session.seed([domain], force=True)
            order = CrawlOrder((domain,), run_id, max_pages=max_pages)
            reports = await session.crawl(order, on_event=tell)
    for report in reports:
        print(f"{time.time():.3f} {report.end} {report.detail} {report.pages} pages")


if __name__ == "__main__":
    import uvloop

    pages = int(sys.argv[4]) if len(sys.argv) > 4 else None
    uvloop.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], pages))
