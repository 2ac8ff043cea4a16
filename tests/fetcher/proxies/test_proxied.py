"""Requests through real proxies on loopback: carried, authenticated, rested, found again, never gone around."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio

from resources.clock import VirtualClock
from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.fetcher.base import Cause, FetchProfile, FetchRequest, ProxyPlan
from resources.fetcher.proxies import ProxiedFetcher
from resources.fetcher.web import WebFetcher
from resources.frontier.base import State
from resources.installation import Installation
from resources.site.catalog import Catalog
from resources.site.load import load_site_text
from tests.fetcher.hostile_zoo.animals import HOST, authority_pem, server_context
from tests.fetcher.hostile_zoo.keeper import Beast, Cage, Visit, ordinary, response
from tests.fetcher.hostile_zoo.visitors import PROFILE, FixedNames
from tests.fetcher.proxies.relays import Relay

USER, PASSWORD = "us@er", "p/ss:w%d"
#: The same, as they stand in a URL.
CREDENTIALS = "us%40er:p%2Fss%3Aw%25d"


async def gentle(visit: Visit) -> None:
    await visit.send(response(ordinary("gentle")))


@dataclass
class Town:
    """A plain and a TLS site, and a fetcher that knows `shop.example`."""

    plain: Cage
    secure: Cage
    fetcher: ProxiedFetcher
    clock: VirtualClock

    @property
    def named(self) -> str:
        return f"http://shop.example:{self.plain.port}/good1"


@pytest_asyncio.fixture
async def town() -> AsyncIterator[Town]:
    from resources.fetcher.transports.reqwest import ReqwestTransport

    clock = VirtualClock()
    names = FixedNames(
        {HOST: ("127.0.0.1",), "shop.example": ("127.0.0.1",), "inside.example": ("10.0.0.1",)}
    )
    inner = WebFetcher(ReqwestTransport(root_certificates_pem=authority_pem()), names)
    plain, secure = (
        Cage(Beast("plain", gentle, frozenset(), tame=True)),
        Cage(Beast("tls", gentle, frozenset(), secure="good", tame=True)),
    )
    async with plain.open(), secure.open(server_context("good")):
        yield Town(plain, secure, ProxiedFetcher(inner, clock), clock)
    await inner.close()


def through(*urls: str, **options: object) -> FetchProfile:
    return replace(PROFILE, proxies=ProxyPlan(urls, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("credentials", ["", CREDENTIALS], ids=["open", "with_password"])
@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
async def test_pages_come_through_the_proxy(scheme: str, credentials: str, town: Town) -> None:
    relay = Relay(
        "http" if scheme == "http" else "socks5",
        USER if credentials else "",
        PASSWORD if credentials else "",
    )
    async with relay.open():
        profile = through(relay.url(credentials, scheme))
        for url in (town.named, f"{town.secure.origin}/good1"):
            result = await town.fetcher.fetch(FetchRequest(url, profile))
            assert (result.status, result.cause) == (200, None), result.error
        # With socks5 the judged address is what the proxy is told, otherwise the name.
        expected = "127.0.0.1" if scheme == "socks5" else "shop.example"
        assert relay.carried[0] == f"{expected}:{town.plain.port}"
        assert len(relay.carried) == 2


async def test_the_environment_neither_adds_nor_removes_a_proxy(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    relay = Relay()
    async with relay.open():
        monkeypatch.setenv("NO_PROXY", "*")
        monkeypatch.setenv("no_proxy", "*")
        result = await town.fetcher.fetch(FetchRequest(town.named, through(relay.url())))
        assert result.status == 200
        assert len(relay.carried) == 1
        monkeypatch.delenv("NO_PROXY")
        monkeypatch.delenv("no_proxy")
        monkeypatch.setenv("HTTP_PROXY", relay.url())
        monkeypatch.setenv("http_proxy", relay.url())
        monkeypatch.setenv("ALL_PROXY", relay.url())
        result = await town.fetcher.fetch(FetchRequest(f"{town.plain.origin}/good1", PROFILE))
        assert result.status == 200
        assert len(relay.carried) == 1


@pytest.mark.parametrize("kind", ["http", "socks5"])
async def test_wrong_credentials_rest_the_proxy_at_once(kind: str, town: Town) -> None:
    relay = Relay(kind, USER, PASSWORD)  # type: ignore[arg-type]
    async with relay.open():
        profile = through(relay.url("us%40er:wrong-secret"))
        result = await town.fetcher.fetch(FetchRequest(town.named, profile))
        assert result.cause is Cause.PROXY
        assert result.status is None
        assert "refuses its credentials" in result.error
        assert "wrong-secret" not in result.error
        asked = relay.connections
        result = await town.fetcher.fetch(FetchRequest(town.named, profile))
        assert result.cause is Cause.NO_PROXY
        assert relay.connections == asked
        assert town.plain.seen == []


@pytest.mark.parametrize("kind", ["http", "socks5"])
async def test_a_dead_proxy_is_rested_left_for_another_and_found_again(kind: str, town: Town) -> None:
    dying, sound = Relay(kind), Relay(kind)  # type: ignore[arg-type]
    async with sound.open():
        async with dying.open():
            profile = through(dying.url(), sound.url(), choice="round_robin", sticky=False)
            for _ in range(4):
                assert (await town.fetcher.fetch(FetchRequest(town.named, profile))).status == 200
            assert dying.carried and sound.carried
        causes = [(await town.fetcher.fetch(FetchRequest(town.named, profile))).cause for _ in range(20)]
        assert causes.count(Cause.PROXY) == 3
        assert causes[-10:] == [None] * 10
        async with dying.open():
            before = dying.connections
            assert (await town.fetcher.fetch(FetchRequest(town.named, profile))).status == 200
            assert dying.connections == before, "its rest is not over"
            town.clock.tick(601)
            for _ in range(4):
                assert (await town.fetcher.fetch(FetchRequest(town.named, profile))).status == 200
            assert dying.connections > before


async def test_when_all_rest_nothing_is_sent_and_above_all_not_directly(town: Town) -> None:
    relay = Relay()
    async with relay.open():
        profile = through(relay.url())
    for _ in range(3):
        assert (await town.fetcher.fetch(FetchRequest(town.named, profile))).cause is Cause.PROXY
    for _ in range(3):
        result = await town.fetcher.fetch(FetchRequest(town.named, profile))
        assert result.cause is Cause.NO_PROXY
        assert "nothing is asked directly" in result.error
    assert town.plain.seen == []


async def test_a_profile_with_proxies_and_none_chosen_is_not_sent(town: Town) -> None:
    """Whoever forgets to choose sends nothing."""
    result = await town.fetcher._inner.fetch(FetchRequest(town.named, through("http://127.0.0.1:1")))
    assert result.cause is Cause.NO_PROXY
    assert town.plain.seen == []


async def test_a_site_that_is_down_is_not_the_proxy_s_fault(town: Town) -> None:
    async with Relay("socks5", mode="bad_gateway").open() as socks, Relay(mode="bad_gateway").open() as http:
        result = await town.fetcher.fetch(FetchRequest(town.named, through(socks.url())))
        assert result.cause is Cause.REFUSED
        result = await town.fetcher.fetch(FetchRequest(f"{town.secure.origin}/", through(http.url())))
        assert result.cause is Cause.UNREACHABLE
        assert "the proxy could not reach the site" in result.error


@pytest.mark.parametrize(
    "url",
    ["http://10.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]/", "http://inside.example/"],
)
@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
async def test_a_proxy_is_no_way_into_the_private_network(url: str, scheme: str, town: Town) -> None:
    async with Relay("http" if scheme == "http" else "socks5").open() as relay:
        profile = replace(through(relay.url(scheme=scheme)), allow_networks=())
        result = await town.fetcher.fetch(FetchRequest(url, profile))
        assert result.cause is Cause.ADDRESS_REFUSED
        assert "allow_private_addresses" in result.error
        assert relay.connections == 0


# -- through the crawl -----------------------------------------------------------------------------------
SITE = """
name: shop
domains: ["{domain}"]
seeds: ["{origin}/"]
sitemaps: off
identity: {{user_agent: "visitor/1.0 (+https://visitor.example)"}}
allow_private_addresses: ["127.0.0.0/8"]
pace: {{rate: unlimited}}
retry: {{attempts: 2}}
proxies: {{urls: ["{kind}://${{RELAY_USER}}:${{RELAY_PASSWORD}}@127.0.0.1:{port}"]}}
"""


async def crawl(folder: Path, cage: Cage, relay: Relay) -> tuple[object, str]:
    """(report, everything that was stored or told)."""
    text = SITE.format(domain=cage.domain, origin=cage.origin, kind=relay.kind, port=relay.port)
    site, problems = load_site_text(text, "shop.yaml")
    assert site is not None, problems
    async with CrawlSession(Installation.at(folder), "run-1", catalog=Catalog([site])) as session:
        seeded = await session.seed([cage.domain])
        [report] = await session.crawl(CrawlOrder((cage.domain,), "run-1"))
        frontier, pages = session.storage.frontier, session.storage.pages

        def told() -> str:
            rows = [repr(row) for _, row in frontier.read_log(0, 10_000)]
            records = [repr(r) for r in frontier.records(cage.domain)]
            heads = [repr(h) for h in pages.scan(cage.domain)]
            assert frontier.counts(cage.domain).leased == 0
            return "\n".join([*rows, *records, *heads, repr(seeded), repr(report), repr(session.fetcher)])

        return report, await session.storage.run(told)


@pytest.mark.parametrize("kind", ["http", "socks5"])
async def test_a_crawl_asks_everything_through_the_proxy_and_tells_no_secret(
    kind: str, town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("RELAY_USER", "relayuser77")
    monkeypatch.setenv("RELAY_PASSWORD", "hush-hush-88")
    async with Relay(kind, "relayuser77", "hush-hush-88").open() as relay:  # type: ignore[arg-type]
        report, told = await crawl(tmp_path, town.plain, relay)
    assert report.ok == 5  # type: ignore[attr-defined]
    assert set(relay.carried) == {town.plain.domain}
    assert "/robots.txt" in town.plain.seen
    everything = told + caplog.text + on_disk(tmp_path)
    assert "hush-hush-88" not in everything
    assert "relayuser77" not in everything


@pytest.mark.parametrize("mode", ["wrong_password", "down"])
async def test_a_crawl_whose_proxies_fail_pauses_and_keeps_its_urls(
    mode: str,
    town: Town,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("RELAY_USER", "relayuser77")
    monkeypatch.setenv("RELAY_PASSWORD", "hush-hush-88")
    async with AsyncExitStack() as stack:
        relay = Relay("http", "relayuser77", "another")
        await stack.enter_async_context(relay.open())
        if mode == "down":
            await stack.aclose()
        report, told = await crawl(tmp_path, town.plain, relay)
    assert report.end in ("paused", "put_off"), report  # type: ignore[attr-defined]
    assert "prox" in report.detail  # type: ignore[attr-defined]
    assert f"<State.PENDING: {int(State.PENDING)}>" in told
    assert town.plain.seen == []
    everything = told + caplog.text + on_disk(tmp_path)
    assert "hush-hush-88" not in everything
    assert "relayuser77" not in everything


def on_disk(folder: Path) -> str:
    """Every byte below the data folder."""
    found = []
    for root, _, files in os.walk(folder):
        found += [(Path(root) / name).read_bytes().decode("latin-1") for name in files]
    return "\n".join(found)
