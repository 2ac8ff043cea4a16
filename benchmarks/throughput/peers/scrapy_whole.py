"""Scrapy over whole sites: `python scrapy_whole.py MODE FOLDER URL…`, in its own environment.

MODE: `jobdir` (durable requests and dedup in FOLDER), `cache` (the same with HTTPCACHE, which stores every page on
the first run and is read from on the second), `rows` (the cache read again, into JSON lines of pages, links with their
texts, and headings), `redis` (scrapy-redis on the server at REDIS_URL).
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


class Rows(Whole):
    """Yields what a parse is for: a row a page, a row for each distinct address on it, and the heading.

    It asks for each address of a page once, which spares Scrapy more than writing the rows costs.
    """

    def parse(self, response: Any) -> Iterator[Any]:
        if not isinstance(response, TextResponse):
            yield {"url": response.url}
            return
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield {"url": response.url, "heading": " ".join(response.css("h1 ::text").getall()).strip()}
        met = set()
        for element in response.css("a[href], area[href]"):
            href = element.attrib["href"].strip().partition("#")[0]
            try:
                request = response.follow(href)
            except ValueError:
                continue  # no address it can request
            if request.url not in met:
                met.add(request.url)
                anchor = " ".join(element.css("::text").getall()).strip()
                rel = element.attrib.get("rel", "")
                yield {"from_url": response.url, "to_url": request.url, "anchor": anchor, "rel": rel}
                yield request


if __name__ == "__main__":
    mode, folder, *urls = sys.argv[1:]
    spider = Rows if mode == "rows" else Whole
    spider.start_urls = urls
    spider.allowed_domains = sorted({urlsplit(url).hostname or "" for url in urls})
    settings: dict[str, Any] = {
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "DOWNLOAD_MAXSIZE": 50_000_000,
        "DOWNLOAD_WARNSIZE": 0,
    }
    if mode in ("jobdir", "cache", "rows"):
        settings["JOBDIR"] = f"{folder}/job-{time.time_ns()}"
    if mode in ("cache", "rows"):
        settings |= {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": f"{folder}/cache"}
    if mode == "rows":
        settings["FEEDS"] = {f"{folder}/rows.jsonl": {"format": "jsonlines", "overwrite": True}}
    if mode == "redis":
        settings |= {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_PERSIST": True,
            "REDIS_URL": os.environ["REDIS_URL"],
        }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    process.crawl(crawler)
    begin, start_cpu = time.monotonic(), time.process_time()
    process.start()
    stats: dict[str, Any] = crawler.stats.get_stats() if crawler.stats else {}
    print(
        json.dumps(
            {
                "pages": stats.get("downloader/response_status_count/200", 0),
                "seconds": time.monotonic() - begin,
                "start_cpu": start_cpu,
            }
        )
    )
