"""Whatever a server does, a fetch ends in time, with a cause from the list, and the next fetch works."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from resources.fetcher.base import FetchRequest
from resources.fetcher.web import WebFetcher
from tests.fetcher.hostile_zoo.animals import ALL, tls_of
from tests.fetcher.hostile_zoo.codings import pack_bombs
from tests.fetcher.hostile_zoo.keeper import Beast, Cage, Visit, response
from tests.fetcher.hostile_zoo.visitors import PROFILE, visitor

#: The profile's total timeout, and a machine that is busy with other things.
IN_TIME_S = PROFILE.total_timeout_s + 5.0
#: The transport's threads learn within this of a connection that the server has ended already.
NOTICED_S = 0.03


@pytest_asyncio.fixture
async def fetcher() -> AsyncIterator[WebFetcher]:
    pack_bombs()
    fetcher = visitor()
    yield fetcher
    await fetcher.close()


@pytest.mark.parametrize("beast", ALL, ids=lambda beast: beast.name)
async def test_a_fetch_of_it_ends_with_a_named_cause(beast: Beast, fetcher: WebFetcher) -> None:
    cage = Cage(beast)
    async with cage.open(tls_of(beast)):
        begin = time.perf_counter()
        result = await fetcher.fetch(FetchRequest(cage.url, PROFILE))
        assert time.perf_counter() - begin < IN_TIME_S
        assert (str(result.cause) if result.cause else None) in beast.causes, result.error
        assert (result.error == "") == (result.cause is None)
        assert result.status is not None or result.cause is not None
        assert len(result.body) <= PROFILE.max_body
        assert all(isinstance(k, str) and isinstance(v, str) for k, v in result.headers)
        if beast.on_connect or beast.secure not in ("", "good"):
            return
        await cage.conversations_end(0.1)
        # What is reset or ended there is found out here before the connection is used again.
        await asyncio.sleep(NOTICED_S)
        after = await fetcher.fetch(FetchRequest(f"{cage.origin}/good1", PROFILE))
        assert (after.status, after.cause) == (200, None)
        assert b"<title>/good1</title>" in after.body


async def test_headers_that_are_not_text_do_not_cost_the_others(fetcher: WebFetcher) -> None:
    beast = next(b for b in ALL if b.name == "non_ascii_headers")
    cage = Cage(beast)
    async with cage.open():
        result = await fetcher.fetch(FetchRequest(cage.url, PROFILE))
    assert result.header("content-type") == "text/html; charset=utf-8"
    assert result.header("x-latin") == ""


async def test_every_set_cookie_is_kept_and_none_is_sent_back(fetcher: WebFetcher) -> None:
    beast = next(b for b in ALL if b.name == "eighty_cookies")
    heads: list[bytes] = []

    async def serve(visit: Visit) -> None:
        heads.append(visit.head)
        await beast.serve(visit)

    cage = Cage(Beast("cookies", serve, beast.causes, tame=True))
    async with cage.open():
        for _ in range(2):
            result = await fetcher.fetch(FetchRequest(cage.url, PROFILE))
    assert sum(name == "set-cookie" for name, _ in result.headers) == 80
    assert b"cookie" not in heads[1].lower()


async def test_a_server_that_stalls_between_pages_costs_the_page_it_stalls_at(fetcher: WebFetcher) -> None:
    peers = []

    async def stall(visit: Visit) -> None:
        peers.append(visit.writer.get_extra_info("peername"))
        await asyncio.sleep(60)

    cage = Cage(Beast("stall", stall, frozenset({"read_timeout"})))
    async with cage.open():
        before = await fetcher.fetch(FetchRequest(f"{cage.origin}/good1", PROFILE))
        stalled = [await fetcher.fetch(FetchRequest(cage.url, PROFILE)) for _ in range(2)]
        after = await fetcher.fetch(FetchRequest(f"{cage.origin}/good2", PROFILE))
    assert [str(result.cause) for result in stalled] == ["read_timeout"] * 2
    assert (before.status, after.status) == (200, 200)
    assert len(set(peers)) == 2  # a connection that stalled is not asked again


@pytest.mark.parametrize(
    ("octets", "expected"), [("/caf\xc3\xa9", "/caf\u00e9"), ("/caf\xe9", "/caf\u00e9"), ("/plain", "/plain")]
)
async def test_a_location_in_octets_is_read(octets: str, expected: str, fetcher: WebFetcher) -> None:
    async def redirect(visit: Visit) -> None:
        await visit.send(response(b"", f"Location: {octets}", status="301 Moved Permanently"))

    cage = Cage(Beast("octets", redirect, frozenset(), tame=True))
    async with cage.open():
        result = await fetcher.fetch(FetchRequest(cage.url, PROFILE))
    assert result.header("location") == expected
    assert cage.visits == (1 if octets.isascii() else 2)
