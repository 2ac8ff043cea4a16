"""The first look at a site nobody has described yet: robots.txt, sitemaps, front page. For `nightcrawl init`.

A handful of requests, one after another, by the same fetcher, address guard and robots rules as a crawl.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from resources.fetcher.base import Fetcher, FetchProfile, FetchRequest, FetchResult
from resources.web.encoding import to_utf8
from resources.web.html_document import parse_html
from resources.web.html_type import is_html
from resources.web.robots import Answer, Outcome, RobotsExchange, Verdict, product_token, robots_url
from resources.web.sitemaps import Discovery
from resources.web.sitemaps import parse as parse_sitemap
from resources.web.structured_data import extract
from resources.web.urls import canonical, domain_of, join
from resources.web.walls import judge

__all__ = ["FirstLook", "FoundItem", "look_at"]

#: Sitemaps read to tell their size and to find a page with structured data: more would be a crawl.
SITEMAPS_READ = 3
#: Pause between two requests: nothing is known of the site's patience yet.
GAP_S = 0.5
REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class FoundItem:
    """A kind of thing the site describes in JSON-LD, and its plain properties by path."""

    kind: str
    page: str
    properties: tuple[str, ...]


@dataclass(slots=True)
class FirstLook:
    """What was found. `problem`: why there was no front page to read."""

    url: str
    domain: str
    robots_words: str = ""
    robots_allows: bool = True
    crawl_delay: float | None = None
    named_sitemaps: tuple[str, ...] = ()
    sitemaps_found: list[str] = field(default_factory=list)
    sitemap_urls: int = 0
    title: str = ""
    server: str = ""
    problem: str = ""
    items: list[FoundItem] = field(default_factory=list)
    requests: int = 0


async def look_at(url: str, fetcher: Fetcher, profile: FetchProfile, agent: str, *, now: float) -> FirstLook:
    """Look at the site of `url`. Never raises for anything a server does."""
    look = FirstLook(url, domain_of(url) or "")
    look_out = _Looker(look, fetcher, profile)
    verdict = await look_out.robots(now)
    token = product_token(agent) or "*"
    look.robots_words = verdict.reason
    look.crawl_delay = verdict.robots.crawl_delay(token)
    look.named_sitemaps = tuple(verdict.robots.sitemaps)
    sample = await look_out.sitemaps(verdict, token)
    look.robots_allows = verdict.decide(token, look.url).allowed
    if look.robots_allows:
        await look_out.front_page()
    elif verdict.temporary:
        look.problem = f"robots.txt could not be read, so nothing else was: {verdict.reason}"
    else:
        look.problem = "robots.txt forbids the front page"
    for page in sample:
        if not look.items and domain_of(page) == look.domain and verdict.decide(token, page).allowed:
            await look_out.items_on(page)
    return look


class _Looker:
    def __init__(self, look: FirstLook, fetcher: Fetcher, profile: FetchProfile) -> None:
        self._look = look
        self._fetcher = fetcher
        self._profile = profile

    async def _get(self, url: str, headers: Mapping[str, str] | None = None) -> FetchResult:
        if self._look.requests:
            await asyncio.sleep(GAP_S)
        self._look.requests += 1
        return await self._fetcher.fetch(FetchRequest(url, self._profile, tuple((headers or {}).items())))

    async def _follow(self, url: str) -> tuple[FetchResult, str]:
        """The answer after redirects, and the URL that gave it."""
        for _ in range(REDIRECTS + 1):
            result = await self._get(url)
            location = result.header("location") if result.status in (301, 302, 303, 307, 308) else None
            target = join(url, location) if location else None
            if target is None:
                break
            url = target
        return result, url

    async def robots(self, now: float) -> Verdict:
        address = robots_url(self._look.url)
        assert address is not None  # the caller has a domain
        exchange = RobotsExchange(address, now=now, cached=None)
        while (request := exchange.request) is not None:
            result = await self._get(request.url, request.headers)
            failed = result.error or str(result.cause) if result.status is None else None
            exchange.receive(Answer(result.status, dict(result.headers), result.body, failed), now=now)
        return exchange.verdict

    async def sitemaps(self, verdict: Verdict, token: str) -> list[str]:
        """Fill in what sitemaps say; some of the pages they name, the last ones first: they are seldom menus."""
        if verdict.outcome is Outcome.DISALLOW_ALL:
            return []
        discovery = Discovery(self._look.url, self._look.named_sitemaps, guess=True)
        sample: list[str] = []
        while (address := discovery.next()) is not None and len(self._look.sitemaps_found) < SITEMAPS_READ:
            if not verdict.decide(token, address).allowed:
                continue
            result, final = await self._follow(address)
            if result.status is None or discovery.answered(result.status).action != "read":
                continue
            document = parse_sitemap(result.body, final, result.header("content-type"))
            if document.kind == "not_a_sitemap":
                continue
            discovery.found(final, document)
            self._look.sitemaps_found.append(address)
            self._look.sitemap_urls += len(document.urls)
            sample += [entry.loc for entry in document.urls[-2:]]
        return sample[-2:][::-1]

    async def front_page(self) -> None:
        result, final = await self._follow(self._look.url)
        if (domain := domain_of(final)) is not None and domain != self._look.domain:
            self._look.problem = f"the front page redirects to {domain}: look at that site too"
            return
        self._look.url = canonical(final) or final
        if result.status != 200 or result.cause is not None:
            self._look.problem = result.error or f"status {result.status}"
            return
        self._look.server = result.header("server") or ""
        tree = self._tree(result)
        if tree is None:
            self._look.problem = (
                f"the front page is {result.header('content-type') or 'of no type'}, not HTML"
            )
            return
        title = tree.css_first("title")
        self._look.title = " ".join((title.text() if title is not None else "").split())[:120]
        self._look.items += _items(tree, final)

    async def items_on(self, page: str) -> None:
        result, final = await self._follow(page)
        tree = self._tree(result) if result.status == 200 else None
        if tree is not None:
            self._look.items += _items(tree, final)

    def _tree(self, result: FetchResult) -> LexborHTMLParser | None:
        content_type = result.header("content-type")
        if result.status is None or not is_html(content_type, result.body):
            return None
        utf8, _ = to_utf8(result.body, content_type)
        verdict = judge(result.status, result.headers, utf8, result.url)
        if verdict.blocked:
            self._look.problem = f"a wall instead of the page: {verdict.kind}"
            return None
        return parse_html(utf8)


def _items(tree: LexborHTMLParser, url: str) -> Iterator[FoundItem]:
    """Top-level JSON-LD things with a handful of plain properties, each kind once."""
    seen: set[str] = set()
    for thing in extract(tree, url).json_ld:
        for node in _nodes(thing):
            kinds = node.get("@type")
            kind = kinds[0] if isinstance(kinds, list) and kinds else kinds
            if not isinstance(kind, str) or kind in seen or kind in _FURNITURE:
                continue
            properties = tuple(_plain(node))
            if properties:
                seen.add(kind)
                yield FoundItem(kind.rsplit("/", 1)[-1], url, properties[:12])


#: What describes the site or the page rather than a thing on it.
_FURNITURE = frozenset(
    {"WebSite", "WebPage", "Organization", "BreadcrumbList", "SearchAction", "ImageObject"}
)


def _nodes(thing: Any) -> Iterator[dict[str, Any]]:
    if isinstance(thing, list):
        for entry in thing:
            yield from _nodes(entry)
    elif isinstance(thing, dict):
        graph = thing.get("@graph")
        yield from _nodes(graph) if isinstance(graph, list) else iter((thing,))


def _plain(node: dict[str, Any], prefix: str = "", depth: int = 0) -> Iterator[str]:
    for name, value in node.items():
        if name.startswith("@"):
            continue
        if isinstance(value, str | int | float | bool) and value != "":
            yield prefix + name
        elif isinstance(value, dict) and depth == 0:
            yield from _plain(value, f"{prefix}{name}.", depth + 1)
