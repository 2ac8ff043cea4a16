"""Scrapy with its default settings; `--autothrottle` switches that extension on. Runs in its own environment.

python scrapy_crawl.py URL [--autothrottle]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess


class Whole(scrapy.Spider):
    """Follows every link."""

    name = "whole"

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"url": response.url}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)


if __name__ == "__main__":
    Whole.start_urls = [sys.argv[1]]
    settings: dict[str, Any] = {"LOG_LEVEL": "ERROR"}
    if "--autothrottle" in sys.argv:
        settings["AUTOTHROTTLE_ENABLED"] = True
    process = CrawlerProcess(settings)
    process.crawl(Whole)
    process.start()
