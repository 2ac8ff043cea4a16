"""Crawlee for Python over whole sites: `python crawlee_whole.py URL…`, in its own environment."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from datetime import timedelta

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext


async def main(urls: list[str]) -> None:
    """Follow every link on the same host; requests and results in its file storage, as by default."""
    crawler = ParselCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=16, max_concurrency=64, desired_concurrency=64
        ),
        respect_robots_txt_file=True,
        request_handler_timeout=timedelta(minutes=5),
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        await context.push_data({"url": context.request.url})
        await context.enqueue_links()

    begin, start_cpu = time.monotonic(), time.process_time()
    statistics = await crawler.run(urls)
    seconds = time.monotonic() - begin
    print(json.dumps({"pages": statistics.requests_finished, "seconds": seconds, "start_cpu": start_cpu}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
