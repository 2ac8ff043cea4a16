"""Scrapy over whole sites: `python scrapy_whole.py MODE FOLDER URL…`, in its own environment.

MODE: `jobdir` (durable requests and dedup in FOLDER), `cache` (the same with HTTPCACHE, which stores every page on
the first run and is read from on the second), `redis` (scrapy-redis on the server at REDIS_URL).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import TextResponse


class Whole(scrapy.Spider):
    """Follows every link and yields one item a page."""

    name = "whole"

    def parse(self, response: Any) -> Iterator[Any]:
        if not isinstance(response, TextResponse):
            yield {"url": response.url}
            return
        yield {"url": response.url, "title": response.css("title::text").get()}
        for href in response.xpath("//a/@href | //area/@href").getall():
            try:
                yield response.follow(href.strip())
            except ValueError:
                continue  # no address it can request


if __name__ == "__main__":
    mode, folder, *urls = sys.argv[1:]
    Whole.start_urls = urls
    Whole.allowed_domains = sorted({urlsplit(url).hostname or "" for url in urls})
    settings: dict[str, Any] = {
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "DOWNLOAD_MAXSIZE": 50_000_000,
        "DOWNLOAD_WARNSIZE": 0,
    }
    if mode in ("jobdir", "cache"):
        settings["JOBDIR"] = f"{folder}/job-{time.time_ns()}"
    if mode == "cache":
        settings |= {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": f"{folder}/cache"}
    if mode == "redis":
        settings |= {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_PERSIST": True,
            "REDIS_URL": os.environ["REDIS_URL"],
        }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(Whole)
    process.crawl(crawler)
    begin, start_cpu = time.monotonic(), time.process_time()
    process.start()
    stats: dict[str, Any] = crawler.stats.get_stats() if crawler.stats else {}
    print(
        json.dumps(
            {
                "pages": stats.get("response_received_count", 0),
                "seconds": time.monotonic() - begin,
                "start_cpu": start_cpu,
            }
        )
    )
