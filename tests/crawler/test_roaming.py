"""A worker without a plan follows its site files while it works."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from practice_site import practice_site_process
from resources.crawler import roaming
from resources.crawler.roaming import Roamer, RoamingOrder
from resources.crawler.session import CrawlSession
from resources.frontier.base import State
from tests.crawler.house import House


async def until(reached: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, f"not reached in {seconds:g} s"
        await asyncio.sleep(0.02)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roaming, "LOOK_S", 0.1)
    monkeypatch.setattr(roaming, "SITES_LOOK_S", 0.1)


def test_changed_site_files_are_obeyed_in_mid_crawl(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with practice_site_process(n_products=40) as site:
        house = House(tmp_path, pace={"rate": "5/s", "ramp_up": 0})
        house.write(site.domain)

        async def go() -> int:
            async with CrawlSession(house.installation, "r") as session:
                await session.seed([site.domain])
                roamer = Roamer(session, RoamingOrder("r", idle_close_s=1.0))
                work = asyncio.create_task(roamer.run(asyncio.Event()))
                await until(lambda: roamer.pages > 3)
                path = house.installation.sites / "practice.yaml"
                good = path.read_text()
                # 1. a file with a mistake changes nothing, and says what is wrong once
                path.write_text(good + "\nno_such_key: 1\n")
                await until(lambda: "no_such_key" in caplog.text)
                pages = roamer.pages
                await until(lambda: roamer.pages > pages)
                # 2. mended, and with another pace and scope: the rest goes by those
                house.pace = {"rate": "unlimited", "concurrency": 8}
                house.write(site.domain, scope={"exclude": ["/book/*"]})
                return await work

        with caplog.at_level(logging.WARNING):
            asyncio.run(go())
        assert caplog.text.count("no_such_key") == 1
        assert house.counts(site.domain).pending == 0
        excluded = house.records(site.domain, State.EXCLUDED)
        assert any("/book/" in record.url for record in excluded)
        books = [r for r in house.records(site.domain, State.DONE) if "/book/" in r.url]
        assert len(books) < 40
