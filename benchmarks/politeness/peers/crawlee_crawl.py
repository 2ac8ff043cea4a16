"""Crawlee for Python with its default settings: `python crawlee_crawl.py URL`, in its own environment."""

from __future__ import annotations

import asyncio
import sys

from crawlee.crawlers import ParselCrawler, ParselCrawlingContext


async def main(url: str) -> None:
    """Follow every link."""
    crawler = ParselCrawler()

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        await context.enqueue_links()

    await crawler.run([url])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
