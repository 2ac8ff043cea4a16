"""A crawl in a process of its own, to be killed: `python -m tests.crawler.child DATA SITES DOMAIN RUN [--seed]`.

SIGTERM and SIGINT stop it as in the product. Prints the report of the domain as JSON when it ends by itself.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.installation import Installation


async def main(data: Path, sites: Path, domain: str, run_id: str, seed: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with CrawlSession(Installation.at(data, sites), run_id) as session:
        if seed:
            await session.seed([domain])
        print("ready", flush=True)
        reports = await session.crawl(CrawlOrder((domain,), run_id), stop=stop)
        print(json.dumps(asdict(reports[0])), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], "--seed" in sys.argv))
