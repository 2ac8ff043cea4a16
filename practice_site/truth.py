"""What a correct crawler must have fetched and extracted in the end: the answer book for the tests.

The pages follow from walking the shop's own map in memory (no server needed): links of every page, minus what
robots.txt forbids, minus places without end. Takes about a second for 2,000 products.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urldefrag, urljoin

from practice_site.resource import PAGE_KINDS, TRAP_KINDS, Kind, Resource
from practice_site.robots_txt import is_allowed
from practice_site.shop import Shop, identity, normal_path
from practice_site.site_config import SiteConfig
from practice_site.words import CATEGORIES

__all__ = ["Expectation", "Truth"]

_LINK = re.compile(r'<a href="([^"]*)"([^>]*)>')


@dataclass(slots=True)
class Expectation:
    """Absolute URLs without session ids and fragments, each in exactly one of the first six."""

    pages: set[str] = field(default_factory=set)
    """Answer 200 with a page of their own: exactly these must be fetched."""
    redirects: dict[str, str] = field(default_factory=dict)
    """URL to its Location, every hop."""
    dead: dict[str, int] = field(default_factory=dict)
    """404 and 410."""
    broken: set[str] = field(default_factory=set)
    """Always 500."""
    forbidden: set[str] = field(default_factory=set)
    """Linked, but disallowed by robots.txt: none of these may be fetched."""
    traps: set[str] = field(default_factory=set)
    """Entrances to places without end, where the walk stopped."""
    external: set[str] = field(default_factory=set)
    """Links to other domains."""
    kinds: dict[str, Kind] = field(default_factory=dict)
    """What each page is."""

    def of_kind(self, kind: Kind) -> set[str]:
        return {url for url, its_kind in self.kinds.items() if its_kind == kind}

    def to_json(self) -> dict[str, Any]:
        return {
            "pages": sorted(self.pages),
            "redirects": self.redirects,
            "dead": self.dead,
            "broken": sorted(self.broken),
            "forbidden": sorted(self.forbidden),
            "traps": sorted(self.traps),
            "external": sorted(self.external),
            "kinds": self.kinds,
        }


class Truth:
    """The truth about one site on the night and with the behaviour of `config`."""

    def __init__(self, config: SiteConfig, origin: str, neighbours: Sequence[str] = ()) -> None:
        self.config = config
        self.shop = Shop(config, origin, neighbours)
        self.origin = self.shop.origin

    def expected_pages(
        self,
        *,
        seeds: Sequence[str] = ("/",),
        sitemaps: bool = True,
        max_depth: int | None = None,
        in_scope: Callable[[str], bool] | None = None,
        follow_nofollow: bool = False,
    ) -> frozenset[str]:
        """The pages of `walk`."""
        found = self.walk(
            seeds=seeds,
            sitemaps=sitemaps,
            max_depth=max_depth,
            in_scope=in_scope,
            follow_nofollow=follow_nofollow,
        )
        return frozenset(found.pages)

    def walk(
        self,
        *,
        seeds: Sequence[str] = ("/",),
        sitemaps: bool = True,
        max_depth: int | None = None,
        in_scope: Callable[[str], bool] | None = None,
        follow_nofollow: bool = False,
    ) -> Expectation:
        """Everything reachable from `seeds` (paths) and the sitemaps, both at depth 0.

        `max_depth`: most links to follow in a row; a redirect is no step. `in_scope` is asked for each path and
        query. `follow_nofollow`: whether rel=nofollow and meta nofollow links count.
        """
        found = Expectation()
        queue: deque[tuple[str, int]] = deque((seed, 0) for seed in seeds)
        if sitemaps and self.config.behaviour.sitemap != "off":
            queue.extend((url.removeprefix(self.origin), 0) for url, _ in self.shop.sitemap_entries())
        seen: set[str] = set()
        while queue:
            target, depth = queue.popleft()
            if target in seen or (in_scope is not None and not in_scope(target)):
                continue
            seen.add(target)
            url = self.origin + target
            if not is_allowed(self.config.behaviour, target):
                found.forbidden.add(url)
                continue
            resource = self.shop.resolve(target)
            if resource.kind in TRAP_KINDS:
                found.traps.add(url)
            elif resource.location:
                found.redirects[url] = self.origin + resource.location
                queue.appendleft((resource.location, depth))
            elif resource.status in {404, 410}:
                found.dead[url] = resource.status
            elif resource.status >= 500:
                found.broken.add(url)
            elif resource.kind in PAGE_KINDS:
                found.pages.add(url)
                found.kinds[url] = resource.kind
                if max_depth is None or depth < max_depth:
                    links = self._links(url, resource, found, follow_nofollow)
                    queue.extend((link, depth + 1) for link in links if link not in seen)
        return found

    def expected_items(self, pages: frozenset[str] | None = None) -> list[dict[str, Any]]:
        """The item row of every book on sale tonight (of those in `pages`, if given), ordered by ISBN.

        `price` is pounds as text with two decimals; dates are ISO 8601.
        """
        rows = []
        for book in self.shop.catalogue.on_sale:
            url = self.origin + book.path
            if pages is not None and url not in pages:
                continue
            stock = self.shop.catalogue.stock(book)
            rows.append(
                {
                    "url": url,
                    "isbn": book.isbn,
                    "title": book.title,
                    "authors": list(book.authors),
                    "price": f"{self.shop.catalogue.price(book) / 100:.2f}",
                    "currency": "GBP",
                    "in_stock": stock > 0,
                    "stock": stock,
                    "rating": book.rating,
                    "reviews": book.reviews,
                    "format": book.format,
                    "language": book.language,
                    "pages": book.pages,
                    "published": book.published.isoformat(),
                    "category": CATEGORIES[book.category][1],
                }
            )
        return sorted(rows, key=lambda row: str(row["isbn"]))

    def _links(self, url: str, resource: Resource, found: Expectation, follow_nofollow: bool) -> list[str]:
        """Own targets linked from a page, in their plain spelling; links to others go to `found.external`."""
        if resource.kind == "nofollow" and not follow_nofollow:
            # Its navigation does not count either, but every page has that.
            return []
        targets = []
        for match in _LINK.finditer(resource.body.decode("ascii", "ignore")):
            if "nofollow" in match[2] and not follow_nofollow:
                continue
            link = urldefrag(urljoin(url, unescape(match[1]))).url
            if not link.startswith(self.origin + "/"):
                found.external.add(link)
                continue
            path, mark, query = link.removeprefix(self.origin).partition("?")
            plain = (normal_path(path) if "%" in path else path) + mark + query
            if self.config.behaviour.session_trap == "everywhere":
                plain = identity(plain)
            targets.append(plain)
        return targets
