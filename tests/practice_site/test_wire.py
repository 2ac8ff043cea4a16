"""HTTP/1.1 as the shop speaks it: connections, validators, codings."""

from __future__ import annotations

import gzip
import re

import brotli
import pytest

from practice_site import PracticeSite, site_config
from practice_site.wire import accepted_coding
from tests.practice_site.raw_client import exchange, fetch


async def test_pipelined_requests_are_answered_in_order_on_one_connection() -> None:
    async with PracticeSite(site_config(n_products=5, latency=0.01)) as site:
        paths = ["/", "/about", "/books", "/nowhere"]
        wire = b"".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for path in paths)
        reply = await exchange(site, wire + b"GET /contact HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert re.findall(rb"HTTP/1.1 (\d+)", reply) == [b"200", b"200", b"200", b"404", b"200"]
        assert [entry.path for entry in site.log.entries] == [*paths, "/contact"]
        assert len({entry.connection for entry in site.log.entries}) == 1


async def test_a_request_may_arrive_in_pieces_and_carry_a_body() -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        reply = await exchange(
            site,
            b"POST /about HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello" + b"GET /books HTTP/1.0\r\n\r\n",
        )
        assert reply.count(b"HTTP/1.1 200") == 2


@pytest.mark.parametrize(
    "wire", [b"NONSENSE\r\n\r\n", b"GET / HTTP/2\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n"]
)
async def test_what_is_no_request_is_refused_and_the_connection_closed(wire: bytes) -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        assert (await exchange(site, wire)).startswith(b"HTTP/1.1 400")
        assert site.log.entries == []


async def test_head_has_the_headers_of_get_and_no_body() -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        get, head = await fetch(site, "/books"), await fetch(site, "/books", method="HEAD")
        assert head.body == b""
        assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.body))


async def test_connections_end_after_the_chosen_number_of_answers() -> None:
    async with PracticeSite(site_config(n_products=5, keep_alive_requests=2)) as site:
        reply = await exchange(site, b"GET /about HTTP/1.1\r\n\r\n" * 5)
        assert reply.count(b"HTTP/1.1 200") == 2
        assert reply.count(b"Connection: close") == 1


@pytest.mark.parametrize("etag", ["strong", "weak"])
async def test_etags_revalidate_across_codings(etag: str) -> None:
    async with PracticeSite(site_config(n_products=5, etag=etag)) as site:
        tags = {
            coding: (await fetch(site, "/books", Accept_Encoding=coding)).headers["etag"]
            for coding in ("identity", "gzip", "br")
        }
        assert all(tag.startswith("W/") == (etag == "weak") for tag in tags.values())
        assert len(set(tags.values())) == (3 if etag == "strong" else 1)
        for tag in [*tags.values(), f'"other", {tags["gzip"]}', "*"]:
            reply = await fetch(site, "/books", If_None_Match=tag)
            assert (reply.status, reply.body) == (304, b"")
            assert "content-length" not in reply.headers
            assert reply.headers["etag"] == tags["identity"]
        assert (await fetch(site, "/books", If_None_Match='"other"')).status == 200


async def test_last_modified_revalidates_unless_a_tag_was_sent() -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        stamp = (await fetch(site, "/books")).headers["last-modified"]
        assert (await fetch(site, "/books", If_Modified_Since=stamp)).status == 304
        early = "Mon, 01 Jan 2024 00:00:00 GMT"
        assert (await fetch(site, "/books", If_Modified_Since=early)).status == 200
        assert (await fetch(site, "/books", If_Modified_Since="soon")).status == 200
        assert (await fetch(site, "/books", If_Modified_Since=stamp, If_None_Match='"x"')).status == 200


async def test_validators_and_cache_control_can_be_switched_off() -> None:
    async with PracticeSite(
        site_config(n_products=5, etag="off", last_modified=False, cache_control="", cache_control_static="")
    ) as site:
        for path in ("/books", "/about"):
            headers = (await fetch(site, path)).headers
            assert not headers.keys() & {"etag", "last-modified", "cache-control"}


async def test_bodies_are_coded_as_the_client_accepts() -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        plain = (await fetch(site, "/books")).body
        zipped = await fetch(site, "/books", Accept_Encoding="gzip")
        brotlied = await fetch(site, "/books", Accept_Encoding="gzip, br")
        assert zipped.headers["content-encoding"] == "gzip"
        assert gzip.decompress(zipped.body) == plain
        assert brotlied.headers["content-encoding"] == "br"
        assert brotli.decompress(brotlied.body) == plain
        assert zipped.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("accept", "offered", "coding"),
    [
        ("", "both", ""),
        ("br;q=0, gzip;q=0.5", "both", "gzip"),
        ("br;q=0.000", "both", ""),
        ("br, gzip", "gzip", "gzip"),
        ("br, gzip", "off", ""),
        ("zstd, BR", "both", "br"),
    ],
)
def test_coding_choice(accept: str, offered: str, coding: str) -> None:
    assert accepted_coding(accept, offered) == coding
