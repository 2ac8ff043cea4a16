"""One worker of a fleet: crawls domains from a shared frontier, to be killed or stopped at any moment.

    python -m tests.fleet.crawl_worker INSTALLATION-AS-JSON RUN DOMAIN… [--seed] [--usual-leases]

Prints `ready`, and the reports as JSON when it ends by itself.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.frontier.redis import RedisFrontier
from resources.installation import Installation
from resources.pacing.ledger.redis import RedisLedger
from resources.pacing.shared.pacer import SharedPacer


async def main(
    installation: Installation, run_id: str, domains: tuple[str, ...], seed: bool, short_leases: bool
) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with CrawlSession(installation, run_id) as session:
        if seed:
            await session.seed(domains)
        print("ready", flush=True)
        order = CrawlOrder(domains, run_id)
        if short_leases:  # those of a killed worker lapse while a test waits
            order = CrawlOrder(domains, run_id, lease_s=8.0, domain_lease_s=6.0)
        reports = await session.crawl(order, stop=stop)
        trips = 0
        if isinstance(frontier := session.storage.frontier, RedisFrontier):
            trips = frontier.trips
        if isinstance(session.pacer, SharedPacer):
            trips += session.pacer.trips
        if isinstance(session.ledger, RedisLedger):
            trips += session.ledger.trips
        print(json.dumps([asdict(report) | {"trips": trips} for report in reports]), flush=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(process)d %(asctime)s %(name)s %(message)s")
    words = json.loads(sys.argv[1])
    places: dict[str, Any] = {
        name: Path(value) if name in ("data", "sites") else value for name, value in words.items()
    }
    names = tuple(word for word in sys.argv[3:] if not word.startswith("--"))
    seed, short_leases = "--seed" in sys.argv, "--usual-leases" not in sys.argv
    asyncio.run(main(Installation(**places), sys.argv[2], names, seed, short_leases))
