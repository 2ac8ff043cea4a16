"""What a test can ask and switch while the site runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from practice_site import PracticeSite, SiteConfig, many_sites, serve, site_config
from practice_site.behaviour import PRESETS, behaviour_fields, changed, parse_value
from tests.practice_site.raw_client import fetch


async def ask(site: PracticeSite, path: str, method: str = "GET") -> tuple[int, Any]:
    reply = await fetch(site, f"/_control/{path}", method=method)
    return reply.status, json.loads(reply.body)


async def test_requests_stats_and_reset() -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        for path in ("/", "/books", "/nowhere"):
            await fetch(site, path)
        _, entries = await ask(site, "requests?since=1&limit=1")
        assert [entry["path"] for entry in entries] == ["/books"]
        _, stats = await ask(site, "stats?window=60")
        assert stats["gaps"]["max_in_window"] == stats["requests"] == 3
        await ask(site, "reset", "POST")
        _, stats = await ask(site, "stats")
        assert stats["requests"] == 0


async def test_behaviour_and_night_switch_while_running() -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        assert (await ask(site, "set?calendar_trap=true&crawl_delay=2", "POST"))[0] == 200
        assert (await fetch(site, "/events/2025/01")).status == 200
        await ask(site, "night?n=2", "POST")
        _, config = await ask(site, "config")
        assert (config["night"], config["behaviour"]["crawl_delay"]) == (2, 2.0)
        _, items = await ask(site, "items")
        assert items == site.truth().expected_items()
        _, expected = await ask(site, "expected?max_depth=0&sitemaps=0")
        assert expected["pages"] == [site.url]


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("set?rat=1", "rat"),
        ("set?rate=fast", "number"),
        ("set?robots=maybe", "disallow_all"),
        ("night?n=0", "night"),
    ],
)
async def test_mistakes_are_named_and_change_nothing(path: str, word: str) -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        before = site.config
        status, result = await ask(site, path, "POST")
        assert status == 400
        assert word in result["error"]
        assert site.config == before
        assert (await ask(site, "set?rate=1"))[0] == 404


async def test_one_post_reaches_every_site_of_the_process() -> None:
    async with serve(many_sites(3, SiteConfig(n_products=5))) as web:
        await ask(web.sites[0], "night?n=4&all=1", "POST")
        assert [site.config.night for site in web.sites] == [4, 4, 4]


async def test_many_sites_are_domains_of_their_own_that_link_to_each_other() -> None:
    async with serve(many_sites(3, SiteConfig(n_products=5))) as web:
        assert [site.config.host for site in web.sites] == ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
        titles = {(await fetch(site, "/books")).body for site in web.sites}
        assert len(titles) == 3
        for site, following in zip(web.sites, [*web.sites[1:], web.sites[0]], strict=True):
            assert following.url.encode() in (await fetch(site, "/links")).body
            assert site.truth().walk().external == {following.url}
            assert site.stats()["requests"] == 2


def test_five_thousand_domains_have_addresses() -> None:
    hosts = [config.host for config in many_sites(5000, SiteConfig(n_products=1))]
    assert len(set(hosts)) == 5000
    assert all(0 < int(host.split(".")[3]) < 255 for host in hosts)


def test_every_switch_reads_its_own_text() -> None:
    for behaviour in PRESETS.values():
        for name in behaviour_fields():
            assert parse_value(name, str(getattr(behaviour, name))) == getattr(behaviour, name)
        assert changed(behaviour, {}) == behaviour
