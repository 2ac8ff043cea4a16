"""Every disguise of an address that is not for crawling, and every door it may be tried at."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from resources.clock import VirtualClock
from resources.crawler.canaries import check_canary
from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.crawler.territory import DomainRules
from resources.fetcher.addresses import AddressGuard, why_refused
from resources.fetcher.base import Cause, FetchProfile, FetchRequest, FetchResult
from resources.fetcher.resolver import Resolver
from resources.fetcher.transports.base import Transport
from resources.fetcher.transports.httpx_bridge import AsHttpx, HttpxTransport
from resources.fetcher.transports.reqwest import ReqwestTransport
from resources.fetcher.web import WebFetcher
from resources.frontier.base import State
from resources.installation import Installation
from resources.site.catalog import Catalog
from resources.site.load import load_site_text
from resources.site.rules import Canary
from resources.web.urls import key
from tests.fetcher.hostile_zoo.keeper import Beast, Cage, Visit, ordinary, response
from tests.fetcher.hostile_zoo.visitors import FixedNames

REFUSED = {
    "127.0.0.1": "loopback", "127.255.255.254": "loopback", "::1": "loopback",
    "0.0.0.0": "this network", "0.1.2.3": "this network", "::": "unspecified",
    "10.0.0.1": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private",
    "fc00::1": "unique local", "fdff::1": "unique local", "fec0::1": "site-local",
    "169.254.0.1": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local",
    "169.254.169.254": "metadata", "fd00:ec2::254": "metadata", "100.100.100.200": "metadata",
    "168.63.129.16": "platform", "100.64.0.1": "carrier-grade", "192.0.0.8": "protocol assignment",
    "198.18.0.1": "benchmarking", "198.51.100.1": "private", "203.0.113.9": "private", "192.0.2.1": "private",
    "240.0.0.1": "reserved", "255.255.255.255": "reserved", "224.0.0.1": "multicast", "239.1.2.3": "multicast",
    "ff02::1": "multicast", "ff0e::1": "multicast", "192.88.99.1": "6to4 relay",
    "::ffff:127.0.0.1": "loopback", "::ffff:7f00:1": "loopback", "::ffff:10.0.0.1": "private",
    "::ffff:0:127.0.0.1": "loopback", "::127.0.0.1": "loopback", "::ffff:169.254.169.254": "metadata",
    "64:ff9b::127.0.0.1": "loopback", "64:ff9b::a9fe:a9fe": "metadata", "64:ff9b:1::1": "NAT64",
    "2002:7f00:1::1": "loopback", "2002:a00:1::": "private", "2001:0:1::1": "protocol assignment",
    "2001:db8::1": "documentation", "3fff::1": "documentation", "100::1": "discard", "5f00::1": "segment",
}  # fmt: skip
PUBLIC = ["93.184.215.14", "1.1.1.1", "172.32.0.1", "11.0.0.1", "2606:4700::1111", "2a00:1450:4001::1",
          "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1"]  # fmt: skip

#: Spellings that the URL standard, the operating system or a browser reads as 127.0.0.1 or another such address.
DISGUISES = [
    "http://127.1/", "http://127.0.1/", "http://0x7f.1/", "http://0x7f000001/", "http://2130706433/",
    "http://017700000001/", "http://0177.0.0.1/", "http://127.0.0.1./", "http://0/", "http://0.0.0.0/",
    "http://[::1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:127.0.0.1]/", "http://[0:0:0:0:0:0:0:1]/",
    "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[fd00:ec2::254]/", "http://169.254.169.254/",
    "http://0xa9.0xfe.0xa9.0xfe/", "http://2852039166/", "http://１２７.０.０.１/", "http://127。0。0。1/",
    "http://①②⑦.⓪.⓪.①/", "http://%31%32%37.0.0.1/", "http://user:pw@127.0.0.1/", "http://1.1.1.1@127.0.0.1/",
    "http://1.1.1.1\\@127.0.0.1/".replace("\\@", "@"), "HTTP://LOCALHOST/", "http://localhost:80/",
    "http:\\\\127.0.0.1\\", "http:/127.0.0.1/", "http://127.0.0.1:0080/", " http://127.0.0.1/ ", "http://12\t7.0.0.1/",
    "http://224.0.0.1/", "http://255.255.255.255/",
]  # fmt: skip


@pytest.mark.parametrize(("address", "reason"), REFUSED.items())
def test_not_for_crawling(address: str, reason: str) -> None:
    told = AddressGuard().refusal(address)
    assert told is not None
    assert reason in told
    bare = address.partition("%")[0]
    assert f"allow_private_addresses: [{bare}]" in told, "the refusal says how to allow it"
    assert AddressGuard([bare]).refusal(address) is None, "and it works"


@pytest.mark.parametrize("address", PUBLIC)
def test_for_crawling(address: str) -> None:
    assert AddressGuard().refusal(address) is None


def test_allowed_networks_reach_into_mapped_forms_and_no_further() -> None:
    guard = AddressGuard(["10.1.0.0/16"])
    assert guard.refusal("10.1.2.3") is None
    assert guard.refusal("::ffff:10.1.2.3") is None
    assert guard.refusal("10.2.0.1") is not None
    assert guard.refusal("127.0.0.1") is not None


def test_what_is_no_address_is_refused() -> None:
    assert "not an IP address" in (AddressGuard().refusal("shop.example") or "")


@given(st.ip_addresses())
def test_whatever_is_let_through_is_global(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if why_refused(address) is None:
        inner = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None)
        assert address.is_global or (inner is not None and inner.is_global)
        assert not address.is_multicast


# -- the first door: a fetch ---------------------------------------------------------------------------------
class Recorder:
    """A transport that must not be reached."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def send(self, outgoing: object) -> object:
        self.sent.append(str(outgoing))
        raise AssertionError("sent")

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("url", DISGUISES)
async def test_no_disguise_gets_past_the_fetcher(url: str) -> None:
    recorder = Recorder()
    fetcher = WebFetcher(recorder)  # type: ignore[arg-type]
    result = await fetcher.fetch(FetchRequest(url, FetchProfile()))
    assert result.cause is Cause.ADDRESS_REFUSED, result
    assert "allow_private_addresses" in result.error
    assert recorder.sent == []


@pytest.mark.parametrize(
    "url",
    ["ftp://127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)", "http://", "http://[::1%25eth0]/",
     "http://a b/", "http://256.1.1.1/", "http://1.2.3.08x/", "//host/", "", "http://\0/", "http://host/" + "a" * 9000],
)  # fmt: skip
async def test_what_is_no_http_url_is_not_sent(url: str) -> None:
    recorder = Recorder()
    result = await WebFetcher(recorder).fetch(FetchRequest(url, FetchProfile()))  # type: ignore[arg-type]
    assert result.cause in (Cause.BAD_URL, Cause.DNS)
    assert recorder.sent == []


# -- names -----------------------------------------------------------------------------------------------------
async def gentle(visit: Visit) -> None:
    await visit.send(response(ordinary("gentle"), f"X-Host: {_field(visit.head, b'host')}"))


def _field(head: bytes, name: bytes) -> str:
    lines = [line for line in head.split(b"\r\n") if line.lower().startswith(name + b":")]
    return b" | ".join(lines).decode()


@pytest_asyncio.fixture
async def cage() -> AsyncIterator[Cage]:
    cage = Cage(Beast("gentle", gentle, frozenset(), tame=True), host="127.0.0.5")
    async with cage.open():
        yield cage


TRANSPORTS = {
    "reqwest": ReqwestTransport,
    "httpx": lambda: HttpxTransport(httpx.AsyncHTTPTransport()),
}
ALLOWED = FetchProfile(allow_networks=("127.0.0.5",))


@pytest.mark.parametrize("make", TRANSPORTS.values(), ids=TRANSPORTS)
async def test_the_judged_address_is_the_one_connected_to(make: type[Transport], cage: Cage) -> None:
    """`shop.example` exists nowhere but in this table: only a pinned connection can reach the server."""
    fetcher = WebFetcher(make(), FixedNames({"shop.example": ("127.0.0.5",)}))
    result = await fetcher.fetch(FetchRequest(f"http://shop.example:{cage.port}/beast", ALLOWED))
    await fetcher.close()
    assert (result.status, result.peer) == (200, "127.0.0.5")
    assert (result.header("x-host") or "").lower() == f"host: shop.example:{cage.port}"


@pytest.mark.parametrize("make", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize(
    "answers", [("127.0.0.5",), ("93.184.215.14", "127.0.0.5"), ("2606:4700::1111", "::ffff:7f00:5")]
)
async def test_one_forbidden_answer_forbids_the_name(
    make: type[Transport], answers: tuple[str, ...], cage: Cage
) -> None:
    fetcher = WebFetcher(make(), FixedNames({"shop.example": answers}))
    result = await fetcher.fetch(FetchRequest(f"http://shop.example:{cage.port}/beast", FetchProfile()))
    await fetcher.close()
    assert result.cause is Cause.ADDRESS_REFUSED
    assert result.error.startswith("shop.example: ")
    assert cage.seen == []


class Rebinding(Resolver):
    """Another answer each time it is asked."""

    def __init__(self, clock: VirtualClock, *answers: str) -> None:
        super().__init__(clock)
        self.answers = list(answers)

    async def addresses_of(self, host: str, port: int) -> tuple[str, ...]:
        return (self.answers.pop(0),)


async def test_a_name_that_changes_its_answer_is_judged_again(cage: Cage) -> None:
    clock = VirtualClock()
    resolver = Rebinding(clock, "127.0.0.5", "127.0.0.1", "127.0.0.5")
    fetcher = WebFetcher(ReqwestTransport(), resolver, clock)
    request = FetchRequest(f"http://shop.example:{cage.port}/beast", ALLOWED)
    assert (await fetcher.fetch(request)).status == 200
    assert (await fetcher.fetch(request)).status == 200, "within a minute the answer is not asked for again"
    assert len(resolver.answers) == 2
    clock.tick(61)
    result = await fetcher.fetch(request)
    assert (result.cause, result.status) == (Cause.ADDRESS_REFUSED, None)
    clock.tick(61)
    assert (await fetcher.fetch(request)).status == 200
    await fetcher.close()


async def test_a_name_with_several_addresses_is_reached_at_the_one_that_answers(cage: Cage) -> None:
    profile = FetchProfile(allow_networks=("127.0.0.0/8",))
    fetcher = WebFetcher(ReqwestTransport(), FixedNames({"shop.example": ("127.0.0.77", "127.0.0.5")}))
    for _ in range(2):
        result = await fetcher.fetch(FetchRequest(f"http://shop.example:{cage.port}/beast", profile))
        assert (result.status, result.peer) == (200, "127.0.0.5")
    await fetcher.close()


async def test_names_that_do_not_resolve_are_asked_once_for_many() -> None:
    names = FixedNames({})
    fetcher = WebFetcher(Recorder(), names)  # type: ignore[arg-type]
    request = FetchRequest("http://nowhere.example/", FetchProfile())
    results = await asyncio.gather(*(fetcher.fetch(request) for _ in range(20)))
    assert {r.cause for r in results} == {Cause.DNS}
    assert names.asked == ["nowhere.example"]


async def test_an_httpx_client_on_our_transport_is_guarded_too(cage: Cage) -> None:
    names = FixedNames({"shop.example": ("127.0.0.5",), "inside.example": ("10.0.0.1",)})
    transport = AsHttpx(ReqwestTransport(), names, AddressGuard(["127.0.0.5"]))
    async with httpx.AsyncClient(transport=transport) as client:
        response = await client.get(f"http://shop.example:{cage.port}/beast")
        assert response.status_code == 200
        assert b"gentle" in response.content
        with pytest.raises(httpx.ConnectError, match="allow_private_addresses"):
            await client.get("http://inside.example/")
        with pytest.raises(httpx.UnsupportedProtocol):
            await client.post(f"http://shop.example:{cage.port}/beast")


# -- the other doors: robots.txt, sitemaps, redirects, canaries ----------------------------------------------------
class Watched(WebFetcher):
    """Remembers what came of each URL."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.results: dict[str, FetchResult] = {}

    async def fetch(self, request: FetchRequest) -> FetchResult:
        result = self.results[request.url] = await super().fetch(request)
        return result


SITE = """
name: shop
domains: ["{domain}", "inside.example"]
seeds: ["http://{domain}/", "http://inside.example/secret"]
identity: {{user_agent: "visitor/1.0 (+https://visitor.example)"}}
allow_private_addresses: ["127.0.0.5"]
pace: {{rate: unlimited}}
retry: {{attempts: 1}}
sitemaps: ["http://inside.example/sitemap.xml"]
canaries: [{{url: "http://inside.example/health"}}]
"""


async def test_every_door_is_guarded(cage: Cage, tmp_path: Path) -> None:
    async def lead_inside(visit: Visit) -> None:
        await visit.send(response(b"", "Location: http://inside.example/admin", status="302 Found"))

    cage.beast = Beast("leads_inside", lead_inside, frozenset(), tame=True)
    domain = f"shop.example:{cage.port}"
    site, problems = load_site_text(SITE.format(domain=domain), "shop.yaml")
    assert site is not None, problems
    fetcher = Watched(
        ReqwestTransport(), FixedNames({"shop.example": ("127.0.0.5",), "inside.example": ("10.9.8.7",)})
    )
    domains = (domain, "inside.example")
    async with CrawlSession(
        Installation.at(tmp_path), "run-1", catalog=Catalog([site]), fetcher=fetcher
    ) as session:
        await session.seed(domains)
        await session.crawl(CrawlOrder(domains, "run-1"))
        frontier = session.storage.frontier
        followed = await session.storage.run(frontier.get, key("http://inside.example/admin"))
        canary = await check_canary(
            Canary(url="http://inside.example/health"), DomainRules("inside.example", site), fetcher
        )
    assert followed is not None, "the redirect was recorded"
    assert followed.state is not State.DONE
    inside = {url: r for url, r in fetcher.results.items() if url.startswith("http://inside.example/")}
    assert {"http://inside.example/robots.txt", "http://inside.example/health"} <= set(inside)
    assert {r.cause for r in inside.values()} == {Cause.ADDRESS_REFUSED}
    assert not canary.passed
    assert "allow_private_addresses: [10.9.8.7]" in canary.problem
    outside = [url for url, r in fetcher.results.items() if r.status == 200]
    assert f"http://{domain}/good1" in outside
