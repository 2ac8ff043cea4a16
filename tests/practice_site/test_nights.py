"""What changes between nights, what does not, and that both can be told from the headers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from practice_site import PracticeSite, SiteConfig, Truth, site_config
from tests.practice_site.raw_client import Reply, fetch

ORIGIN = "http://shop.example"


def bodies(config: SiteConfig) -> dict[str, bytes]:
    truth = Truth(config, ORIGIN)
    return {url: truth.shop.resolve(url.removeprefix(ORIGIN)).body for url in truth.expected_pages()}


def test_equal_configs_give_equal_bytes_and_other_seeds_other_books() -> None:
    config = site_config(preset="default", n_products=40)
    assert bodies(config) == bodies(config)
    assert bodies(config).keys() != bodies(replace(config, seed=2)).keys()


def test_no_isbn_or_url_is_sold_twice() -> None:
    rows = Truth(site_config(n_products=500), ORIGIN).expected_items()
    assert len({row["isbn"] for row in rows}) == len({row["url"] for row in rows}) == 500


def test_some_prices_change_each_night_and_the_rest_stay() -> None:
    config = site_config(n_products=300, price_change_share=0.1)
    nights = [
        {row["isbn"]: row["price"] for row in Truth(replace(config, night=night), ORIGIN).expected_items()}
        for night in (1, 2, 3)
    ]
    for earlier, later in pairwise(nights):
        assert earlier.keys() == later.keys()
        assert 10 < sum(earlier[isbn] != later[isbn] for isbn in earlier) < 60


async def test_exactly_the_changed_pages_fail_to_revalidate() -> None:
    async with PracticeSite(site_config(preset="tame", n_products=60, arrivals=2, departures=1)) as site:
        before: dict[str, Reply] = {}
        for url in site.truth().expected_pages():
            before[url] = await fetch(site, url.removeprefix(site.origin))
        site.set_night(2)
        changed = unchanged = 0
        for url, old in before.items():
            path = url.removeprefix(site.origin)
            new = await fetch(site, path)
            by_tag = await fetch(site, path, If_None_Match=old.headers["etag"])
            by_date = await fetch(site, path, If_Modified_Since=old.headers["last-modified"])
            if new.status == 410:
                continue
            if new.body == old.body:
                unchanged += 1
                assert by_tag.status == 304
            else:
                changed += 1
                assert (by_tag.status, by_date.status) == (200, 200), path
                assert new.headers["last-modified"] != old.headers["last-modified"]
        assert changed > 5
        assert unchanged > 30


async def test_books_come_and_go() -> None:
    async with PracticeSite(site_config(n_products=30, arrivals=3, departures=2)) as site:
        first = {row["url"] for row in site.truth().expected_items()}
        site.set_night(2)
        second = {row["url"] for row in site.truth().expected_items()}
        assert (len(first - second), len(second - first)) == (2, 3)
        gone, new = min(first - second), min(second - first)
        assert (await fetch(site, gone.removeprefix(site.origin))).status == 410
        assert (await fetch(site, new.removeprefix(site.origin))).status == 200
        assert new in site.truth().expected_pages(sitemaps=False)


async def test_the_layout_changes_on_its_night() -> None:
    async with PracticeSite(site_config(n_products=5, layout_change_night=2, price_change_share=0)) as site:
        first = await fetch(site, "/books")
        site.set_night(2)
        reply = await fetch(site, "/books", If_Modified_Since=first.headers["last-modified"])
        assert reply.status == 200
        assert b'class="tile"' in reply.body


async def test_sitemap_dates_move_with_the_books() -> None:
    async with PracticeSite(site_config(n_products=40, sitemap="plain", price_change_share=0.2)) as site:
        first = (await fetch(site, "/sitemap.xml")).body
        site.set_night(2)
        second = (await fetch(site, "/sitemap.xml")).body
        assert first.count(b"2025-01-06") == 41
        assert 0 < second.count(b"2025-01-07") < 30
