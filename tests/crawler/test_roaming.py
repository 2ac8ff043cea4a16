"""A worker without a plan follows its site files while it works, and seeds what they newly cover."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from practice_site import RemoteSite, practice_site_process
from resources.crawler import roaming
from resources.crawler.roaming import Roamer, RoamingOrder
from resources.crawler.session import CrawlSession
from resources.frontier.base import Discovery, Source, State
from resources.web.urls import key
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


def sitemap_requests(site: RemoteSite) -> dict[str, int]:
    return Counter(seen["path"] for seen in site.requests() if "sitemap" in seen["path"])


def test_of_two_workers_one_seeds_a_site_that_is_added_while_they_run(tmp_path: Path) -> None:
    with practice_site_process(n_products=30) as site:
        house = House(tmp_path)

        async def go() -> None:
            async with (
                CrawlSession(house.installation, "a") as one,
                CrawlSession(house.installation, "b") as two,
            ):
                orders = [RoamingOrder(name, idle_close_s=0.8, worker=f"elsewhere:{name}") for name in "ab"]
                roamers = [Roamer(session, order) for session, order in zip((one, two), orders, strict=True)]
                work = [asyncio.create_task(roamer.run(asyncio.Event())) for roamer in roamers]
                await asyncio.sleep(0.3)  # both look, and find nothing to do
                house.write(site.domain)
                await asyncio.gather(*work)

        asyncio.run(go())
        assert house.counts(site.domain).done >= len(site.expected_pages())
        assert house.stored(site) >= site.expected_pages()
        assert set(sitemap_requests(site).values()) == {1}


def test_a_seeding_that_was_cut_short_is_done_again_by_the_next_worker(tmp_path: Path) -> None:
    """The front page is in the frontier already, the sitemaps are not."""
    with practice_site_process(n_products=30) as site:
        house = House(tmp_path)
        house.write(site.domain, scope={"max_depth": 0})  # what only links lead to does not count

        async def go(name: str, frontier_has: str) -> None:
            async with CrawlSession(house.installation, name) as session:
                if frontier_has:
                    front = Discovery(
                        key(site.origin + "/"), site.origin + "/", site.domain, source=Source.SEED
                    )
                    await session.storage.run(session.storage.frontier.enqueue, [front], session.clock.now())
                    await session.storage.run(
                        session.storage.frontier.set_value, f"seeding:{site.domain}", frontier_has
                    )
                await Roamer(session, RoamingOrder(name, idle_close_s=0.3)).run(asyncio.Event())

        asyncio.run(go("a", "a worker that died"))
        assert house.counts(site.domain).done > 30
        asked = sitemap_requests(site)
        assert set(asked.values()) == {1}
        asyncio.run(go("b", ""))
        assert sitemap_requests(site) == asked


def test_a_worker_that_is_told_so_seeds_nothing(tmp_path: Path) -> None:
    with practice_site_process(n_products=3) as site:
        house = House(tmp_path)
        house.write(site.domain)

        async def go() -> int:
            async with CrawlSession(house.installation, "a") as session:
                return await Roamer(session, RoamingOrder("a", idle_close_s=0.3, seed_new=False)).run(
                    asyncio.Event()
                )

        assert asyncio.run(go()) == 0
        assert not site.requests()
