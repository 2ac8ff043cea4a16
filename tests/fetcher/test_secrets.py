"""Credentials in URLs, headers and proxies go to whom they are for and stand nowhere else."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.crawler.territory import MissingSecret, Territory
from resources.extract.page import PageExtractor
from resources.fetcher.base import Cause, FetchProfile, FetchRequest, ProxyPlan
from resources.fetcher.failures import explain
from resources.fetcher.origin import BadUrl, target
from resources.fetcher.transports.reqwest import ReqwestTransport
from resources.fetcher.web import WebFetcher
from resources.installation import Installation
from resources.site.catalog import Catalog
from resources.site.load import load_site_text
from tests.fetcher.hostile_zoo.keeper import Beast, Cage, Visit, ordinary, response

SECRET = "hush-hush-4711"
LOCAL = FetchProfile(allow_networks=("127.0.0.0/8",))


def test_no_repr_shows_a_header_or_a_proxy() -> None:
    profile = FetchProfile(
        headers=(("authorization", f"Bearer {SECRET}"),),
        proxy=f"http://user:{SECRET}@proxy.example:1",
        proxies=ProxyPlan((f"http://user:{SECRET}@proxy.example:1",)),
    )
    assert SECRET not in repr(profile)
    assert SECRET not in repr(FetchRequest("http://shop.example/", profile, (("cookie", SECRET),)))


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{SECRET}@shop.example/a",
        f"http://{SECRET}@shop.example/a",
        f"HTTP://u:{SECRET}@SHOP.example:80/a",
    ],
)
def test_credentials_of_a_url_are_not_sent(url: str) -> None:
    sent, origin = target(url)
    assert sent == "http://shop.example/a"
    assert origin.host == "shop.example"


def test_a_url_that_cannot_be_sent_is_told_without_its_credentials() -> None:
    with pytest.raises(BadUrl) as told:
        target(f"http://user:{SECRET}@/")
    assert SECRET not in str(told.value)


async def test_results_and_requests_are_free_of_url_credentials(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    heads: list[bytes] = []

    async def note(visit: Visit) -> None:
        heads.append(visit.head)
        await visit.send(response(ordinary("noted")))

    cage = Cage(Beast("note", note, frozenset(), tame=True))
    fetcher = WebFetcher()
    async with cage.open():
        results = [
            await fetcher.fetch(FetchRequest(url, LOCAL))
            for url in (
                cage.url.replace("//", f"//user:{SECRET}@"),
                f"http://user:{SECRET}@nowhere.example.invalid/",
                f"http://user:{SECRET}@10.0.0.1/",
                f"http://user:{SECRET}@127.0.0.1:1/",
                f"ftp://user:{SECRET}@host/",
            )
        ]
    await fetcher.close()
    assert results[0].status == 200
    assert b"authorization" not in heads[0].lower()
    assert SECRET not in "".join(map(repr, results)) + caplog.text


@pytest.mark.parametrize(
    "text",
    [
        f"error sending request for url (http://user:{SECRET}@shop.example/?q=1)",
        f"proxy http://user:{SECRET}@proxy.example:3128 refused",
        f"connect to socks5://{SECRET}@proxy.example failed: Connection refused (os error 111)",
    ],
)
def test_words_of_errors_lose_credentials(text: str) -> None:
    for proxied in (True, False):
        _, words = explain(OSError(text), proxied=proxied, in_body=False)
        assert SECRET not in words


async def test_a_proxy_url_that_is_none_is_told_without_its_password() -> None:
    fetcher = WebFetcher(ReqwestTransport())
    for proxy in (
        f"http://user:{SECRET}@",
        f"http://user:{SECRET}@bad host:1",
        f"://{SECRET}",
        f"http://u:{SECRET}@h:99999",
    ):
        profile = FetchProfile(allow_networks=("127.0.0.0/8",), proxy=proxy)
        result = await fetcher.fetch(FetchRequest("http://127.0.0.1:1/", profile))
        assert result.cause in (Cause.PROXY, Cause.BAD_URL), result
        assert SECRET not in repr(result)
    await fetcher.close()


async def test_a_site_s_secret_headers_reach_the_site_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    heads: list[bytes] = []

    async def note(visit: Visit) -> None:
        heads.append(visit.head)
        visit.reset()  # failures are told with most detail

    cage = Cage(Beast("note", note, frozenset()))
    async with cage.open():
        site, problems = load_site_text(
            f"""
name: shop
domains: ["{cage.domain}"]
seeds: ["{cage.origin}/"]
identity: {{user_agent: "visitor/1.0 (+https://visitor.example)", headers: {{Authorization: "Bearer ${{SHOP_TOKEN}}"}}}}
allow_private_addresses: ["127.0.0.0/8"]
pace: {{rate: unlimited}}
retry: {{attempts: 1}}
""",
            "shop.yaml",
        )
        assert site is not None, problems
        async with CrawlSession(Installation.at(tmp_path), "run-1", catalog=Catalog([site])) as session:
            seeded = await session.seed([cage.domain])
            reports = await session.crawl(CrawlOrder((cage.domain,), "run-1"))
            told = repr(seeded) + repr(reports) + repr(session.fetcher)
            rules = session.territory.rules(cage.domain)
            assert rules is not None
            told += repr(rules.profile)
    assert f"Bearer {SECRET}".encode() in heads[0]
    assert reports[0].ok == 4
    stored = b"".join(
        (Path(root) / name).read_bytes() for root, _, names in os.walk(tmp_path) for name in names
    )
    assert SECRET.encode() not in stored
    assert SECRET not in told + caplog.text


def test_a_secret_that_is_missing_stops_requests_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parse workers, imports and judges load the same site file on machines that need not know its secrets."""
    monkeypatch.delenv("SHOP_TOKEN", raising=False)
    site, problems = load_site_text(
        """
domains: [shop.example]
identity: {user_agent: "visitor/1.0 (+https://visitor.example)", headers: {Authorization: "Bearer ${SHOP_TOKEN}"}}
proxies: {urls: ["http://user:${PROXY_PASSWORD}@proxy.example:3128"]}
""",
        "shop.yaml",
    )
    assert site is not None, problems
    territory = Territory(Catalog([site]))
    rules = territory.rules("shop.example")
    assert rules is not None
    assert PageExtractor(rules, territory)
    with pytest.raises(
        MissingSecret, match=r"site shop: identity\.headers\.Authorization needs .* SHOP_TOKEN"
    ):
        _ = rules.profile
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    with pytest.raises(MissingSecret, match="PROXY_PASSWORD"):
        _ = rules.profile
    monkeypatch.setenv("PROXY_PASSWORD", SECRET)
    assert rules.profile.proxies is not None


async def test_a_domain_without_its_secret_sends_nothing_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOP_TOKEN", raising=False)
    site, problems = load_site_text(
        'domains: [shop.example]\nidentity: {contact: "https://visitor.example", headers: {X: "${SHOP_TOKEN}"}}\n',
        "shop.yaml",
    )
    assert site is not None, problems
    async with CrawlSession(Installation.at(tmp_path), "run-1", catalog=Catalog([site])) as session:
        [report] = await session.crawl(CrawlOrder(("shop.example",), "run-1"))
    assert (report.end, report.requests) == ("error", 0)
    assert "SHOP_TOKEN" in report.detail
