"""Redirects, dead ends, page marks, encodings, structured data, layouts: each on the wire."""

from __future__ import annotations

import json
import re

import pytest

from practice_site import PracticeSite, site_config
from tests.practice_site.naive_crawl import Links
from tests.practice_site.raw_client import Reply, fetch


async def test_redirects_of_every_kind_lead_to_books() -> None:
    async with PracticeSite(site_config(n_products=20, redirects=4, redirect_chain=3)) as site:
        statuses = []
        for number in range(1, 5):
            reply = await fetch(site, f"/go/{number}")
            statuses.append(reply.status)
            assert "/book/" in reply.headers["location"]
        assert statuses == [301, 302, 307, 308]
        steps = [(await fetch(site, f"/chain/{n}")).headers["location"] for n in (3, 2, 1)]
        assert [step.rsplit("/", 2)[1] for step in steps] == ["chain", "chain", "book"]
        assert (await fetch(site, "/go/5")).status == 404


async def test_a_redirect_loop_comes_back() -> None:
    async with PracticeSite(site_config(n_products=5, redirect_loop=True)) as site:
        path, seen = "/loop/a", []
        for _ in range(3):
            seen.append(path)
            path = (await fetch(site, path)).headers["location"].removeprefix(site.origin)
        assert path == "/loop/a"
        assert len(set(seen)) == 3


async def test_dead_broken_and_soft_missing_pages() -> None:
    async with PracticeSite(site_config(n_products=5, dead_links=2, broken_pages=1, soft_404s=1)) as site:
        assert [(await fetch(site, path)).status for path in ("/dead/1", "/dead/2")] == [404, 410]
        assert [(await fetch(site, "/broken/1")).status for _ in range(3)] == [500] * 3
        soft = await fetch(site, "/soft/1")
        assert soft.status == 200
        assert b"Page not found" in soft.body


async def test_pages_say_noindex_by_meta_or_header_and_nofollow_by_meta_or_rel() -> None:
    async with PracticeSite(site_config(n_products=5, noindex_pages=2, nofollow_pages=1)) as site:
        by_meta, by_header = await fetch(site, "/note/1"), await fetch(site, "/note/2")
        assert b'content="noindex"' in by_meta.body
        assert "x-robots-tag" not in by_meta.headers
        assert by_header.headers["x-robots-tag"] == "noindex"
        assert Links((await fetch(site, "/partners/1")).body.decode()).nofollow_page
        assert b'rel="sponsored nofollow"' in (await fetch(site, "/archive")).body


async def test_links_lead_to_other_domains() -> None:
    async with PracticeSite(site_config(n_products=5, external_links=3)) as site:
        links = Links((await fetch(site, "/links")).body.decode()).found
        assert {f"http://bookshop-{n}.example/" for n in (1, 2, 3)} <= set(links)


def declared_encoding(reply: Reply) -> str:
    header = re.search(r"charset=(\S+)", reply.headers["content-type"])
    meta = re.search(rb'<meta charset="([^"]+)"', reply.body[:1024])
    assert header or meta
    return header[1] if header else meta[1].decode() if meta else ""


async def test_foreign_books_come_in_the_declared_encoding() -> None:
    async with PracticeSite(site_config(n_products=60, foreign_share=1.0)) as site:
        ways = set()
        for row in site.truth().expected_items():
            reply = await fetch(site, row["url"].removeprefix(site.origin))
            encoding = declared_encoding(reply)
            ways.add((encoding, "charset" in reply.headers["content-type"], b"<meta charset" in reply.body))
            text = reply.body.decode(encoding)
            assert f'itemprop="name">{row["title"]}</h1>' in text
        assert {encoding for encoding, _, _ in ways} == {"windows-1251", "shift_jis", "gbk"}
        assert {(header, meta) for _, header, meta in ways} == {(True, False), (False, True), (True, True)}


async def test_structured_data_agrees_with_the_truth_and_can_be_broken() -> None:
    async with PracticeSite(site_config(n_products=2)) as site:
        rows = site.truth().expected_items()

        async def json_ld(row: dict[str, str]) -> str:
            body = (await fetch(site, row["url"].removeprefix(site.origin))).body.decode()
            found = re.search(r'<script type="application/ld\+json">(.*?)</script>', body, re.S)
            return found[1] if found else ""

        for row in rows:
            data = json.loads(await json_ld(row))
            assert (data["name"], data["isbn"], data["offers"]["price"]) == (
                row["title"],
                row["isbn"],
                row["price"],
            )
        site.set(structured_data="broken")
        with pytest.raises(json.JSONDecodeError):
            json.loads(await json_ld(rows[1]))
        site.set(structured_data="off")
        assert await json_ld(rows[0]) == ""


async def test_the_second_layout_shows_the_same_under_other_names() -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        row = site.truth().expected_items()[0]
        path = row["url"].removeprefix(site.origin)
        first = (await fetch(site, path)).body.decode()
        site.set(layout=2)
        second = (await fetch(site, path)).body.decode()
        assert 'class="price"' in first
        assert 'class="price"' not in second
        assert f"£{row['price']}" in second


async def test_untidy_links_are_other_spellings_of_the_same_pages() -> None:
    async with PracticeSite(site_config(n_products=40, untidy_links=True, foreign_share=0.5)) as site:
        links = Links((await fetch(site, "/books")).body.decode()).found
        odd = [
            link
            for link in links
            if "#" in link or "/." in link or "%62" in link or re.search("%[a-f]", link)
        ]
        assert odd
        for link in odd:
            assert (await fetch(site, link.partition("#")[0])).status == 200


async def test_pages_can_be_made_large() -> None:
    async with PracticeSite(site_config(n_products=1, page_bytes=40_000)) as site:
        path = site.truth().expected_items()[0]["url"].removeprefix(site.origin)
        assert 40_000 < len((await fetch(site, path)).body) < 45_000
