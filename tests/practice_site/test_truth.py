"""The answer book agrees with an independent crawl over the wire."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise

import pytest

from practice_site import PracticeSite, Truth, site_config
from tests.practice_site.naive_crawl import naive_crawl
from tests.practice_site.raw_client import fetch


async def test_a_naive_crawl_of_a_tame_site_finds_exactly_the_expected_pages() -> None:
    async with PracticeSite(site_config(preset="tame", n_products=120)) as site:
        found = await naive_crawl(site)
        assert set(found.values()) == {200}
        assert found.keys() == site.truth().expected_pages()
        stats = site.stats()
        assert stats["by_kind"]["product"] == 120
        assert stats["by_kind"]["list"] == 6
        assert stats["wasted"] == 0
        assert "private" not in stats["by_kind"]


async def test_with_every_finite_corner_open_each_url_is_in_its_class() -> None:
    async with PracticeSite(
        site_config(
            n_products=60,
            orphans=3,
            redirects=5,
            redirect_chain=7,
            redirect_loop=True,
            dead_links=4,
            broken_pages=2,
            soft_404s=2,
            noindex_pages=2,
            nofollow_pages=2,
            external_links=2,
            next_loop="back",
            foreign_share=0.2,
        )
    ) as site:
        found, expected = await naive_crawl(site), site.truth().walk()
        assert {url for url, status in found.items() if status == 200} == expected.pages
        assert {url for url, status in found.items() if 300 <= status < 400} == expected.redirects.keys()
        assert {url: status for url, status in found.items() if status in {404, 410}} == expected.dead
        assert {url for url, status in found.items() if status == 500} == expected.broken
        assert not found.keys() & expected.forbidden
        assert len(expected.external) == 2
        assert len(expected.of_kind("product")) == 60


async def test_orphans_are_only_in_the_sitemap() -> None:
    async with PracticeSite(site_config(n_products=30, orphans=4)) as site:
        truth = site.truth()
        assert len(truth.expected_pages() - truth.expected_pages(sitemaps=False)) == 4
        assert (await naive_crawl(site, sitemaps=False)).keys() == truth.expected_pages(sitemaps=False)


@pytest.mark.parametrize("trap", ["section", "everywhere"])
def test_traps_are_named_and_no_page_is_behind_them(trap: str) -> None:
    tame = site_config(n_products=50)
    trapped = site_config(
        n_products=50, session_trap=trap, calendar_trap=True, next_loop="endless", untidy_links=True
    )
    origin = "http://shop.example"
    plain, walked = Truth(tame, origin).expected_pages(), Truth(trapped, origin).walk()
    entrances = {f"{origin}{path}" for path in ("/events", "/browse", "/new", "/new?page=2", "/new?page=3")}
    assert plain <= walked.pages
    assert walked.pages - plain <= entrances
    assert f"{origin}/events/2025/01" in walked.traps
    assert f"{origin}/new?page=4" in walked.traps


@pytest.mark.parametrize(
    ("robots", "some"), [("allow_all", True), ("none", True), ("error", False), ("disallow_all", False)]
)
def test_robots_modes_decide_what_is_expected(robots: str, some: bool) -> None:
    found = Truth(site_config(n_products=10, robots=robots), "http://shop.example").walk()
    assert bool(found.pages) == some
    assert bool(found.forbidden) != some


async def test_robots_txt_is_served_as_its_mode_says() -> None:
    async with PracticeSite(site_config(n_products=5, crawl_delay=0.5)) as site:
        text = (await fetch(site, "/robots.txt")).body.decode()
        assert "Crawl-delay: 0.5" in text
        assert f"Sitemap: {site.origin}/sitemap.xml" in text
        for mode, status in (("none", 404), ("error", 503), ("redirect", 301), ("disallow_all", 200)):
            site.set(robots=mode)
            assert (await fetch(site, "/robots.txt")).status == status
        assert (await fetch(site, "/robots-rules.txt")).status == 404
        site.set(robots="redirect", sitemap="off")
        assert b"Sitemap:" not in (await fetch(site, "/robots-rules.txt")).body


def test_scope_and_depth_narrow_the_pages() -> None:
    truth = Truth(site_config(n_products=60), "http://shop.example")
    every = truth.expected_pages(sitemaps=False)
    depths = [truth.expected_pages(sitemaps=False, max_depth=depth) for depth in range(4)]
    assert depths[0] == {"http://shop.example/"}
    assert all(less < more for less, more in pairwise(depths))
    assert depths[3] <= every
    only = truth.expected_pages(in_scope=lambda target: target.startswith("/book/"), seeds=())
    assert len(only) == 60


async def test_the_expected_items_are_what_the_pages_say() -> None:
    async with PracticeSite(site_config(n_products=40, night=3)) as site:
        for row in site.truth().expected_items():
            html = (await fetch(site, row["url"].removeprefix(site.origin))).body.decode()

            def of_class(name: str, page: str = html) -> list[str]:
                return [unescape(text) for text in re.findall(rf'class="{name}"[^>]*>([^<]*)<', page)]

            assert of_class("title") == [row["title"]]
            assert of_class("price") == [f"£{row['price']}"]
            assert of_class("isbn") == [row["isbn"]]
            assert of_class("author") == row["authors"]
            assert of_class("availability")[0].startswith("In stock") == row["in_stock"]


async def test_broken_sitemaps_stop_in_the_middle() -> None:
    async with PracticeSite(
        site_config(n_products=12, sitemap="broken", sitemap_gzip=False, sitemap_size=5)
    ) as site:
        assert (await fetch(site, "/sitemap.xml")).body.count(b"<sitemap>") == 3
        part = (await fetch(site, "/sitemaps/part-1.xml")).body
        assert part.count(b"</url>") == 4
        assert not part.endswith(b"</urlset>\n")
        assert (await fetch(site, "/sitemaps/part-4.xml")).status == 404
