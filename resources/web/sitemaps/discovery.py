"""Which sitemaps of a site to fetch, and what each answer means for what is known already.

Sans-IO: ask `next`, fetch, tell `answered` (and, for an index, `found`). Each sitemap is fetched once per
`Discovery`, whatever the spelling of its address, so that cyclic indexes end; depth and number are bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from selectolax.lexbor import LexborHTMLParser

from .addresses import host, resolve, shown
from .document import Document

__all__ = ["Advertised", "Discovery", "DiscoveryLimits", "Outcome", "advertised", "in_protocol_scope"]

#: Where sitemaps lie that no robots.txt names: the protocol's default first, then what the common systems
#: write (WordPress core, Yoast, generators of news sitemaps).
WELL_KNOWN = (
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/sitemap.xml.gz",
    "/wp-sitemap.xml",
    "/sitemap.txt",
)
_FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
)


@dataclass(frozen=True, slots=True)
class DiscoveryLimits:
    """Bounds of one discovery."""

    #: Indexes below indexes. The protocol allows one; eight levels have been seen, loops without end too.
    depth: int = 10
    #: Sitemaps in all (sitemaps.org: an index names at most 50,000).
    sitemaps: int = 50_000


@dataclass(frozen=True, slots=True)
class Advertised:
    """What a page names: `<link rel=sitemap>`, and feeds by `<link rel=alternate>`."""

    sitemaps: list[str] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)


def advertised(tree: LexborHTMLParser, base_url: str) -> Advertised:
    """Sitemaps and feeds that a page's `link` elements name, absolute, in order, each once."""
    found = Advertised()
    for link in tree.css("link[rel][href]"):
        given = link.attributes
        relations = (given.get("rel") or "").lower().split()
        address = resolve(base_url, (given.get("href") or "").strip())
        if address is None:
            continue
        kind = (given.get("type") or "").partition(";")[0].strip().lower()
        if "sitemap" in relations:
            listed = found.sitemaps
        elif kind in _FEED_TYPES and ("alternate" in relations or "feed" in relations):
            listed = found.feeds
        else:
            continue
        if address not in listed:
            listed.append(address)
    return found


def in_protocol_scope(sitemap: str, url: str) -> bool:
    """sitemaps.org, "Sitemap file location": same scheme and host, at or below the sitemap's directory."""
    directory = resolve(sitemap, ".")
    page = resolve(sitemap, url)
    return directory is not None and page is not None and page.startswith(directory.partition("?")[0])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to do after an answer.

    read: parse the body. keep: the list of last time stands. forget: the list is void.
    `retry_after_s`: do not ask again before; only with keep.
    """

    action: Literal["read", "keep", "forget"]
    retry_after_s: float | None = None


class Discovery:
    """The sitemaps of one site (`home`: an address on it).

    1. robots.txt names some: those, on any host.  2. It names none: those the front page names and the
    well-known paths (`guess`).  3. From each index: what it names on its own host, or on the home's.
    """

    def __init__(
        self,
        home: str,
        robots_sitemaps: Iterable[str] = (),
        advertised_sitemaps: Iterable[str] = (),
        limits: DiscoveryLimits | None = None,
        *,
        guess: bool = True,
    ) -> None:
        self._home = home
        self._limits = limits or DiscoveryLimits()
        self._known: dict[str, int] = {}
        self._waiting: deque[str] = deque()
        self.problems: list[str] = []
        for named in robots_sitemaps:
            self._add(home, named, depth=0)
        #: Hosts whose robots.txt rules were satisfied by naming the sitemap.
        self.named = frozenset(self._known)
        if not self._known:
            for named in advertised_sitemaps:
                self._add(home, named, depth=0)
            for path in WELL_KNOWN if guess else ():
                self._add(home, path, depth=0)

    def __repr__(self) -> str:
        return f"<Discovery {self._home} known={len(self._known)} waiting={len(self._waiting)}>"

    def next(self) -> str | None:
        """The next sitemap to fetch, None when there is none (until an index adds some)."""
        return self._waiting.popleft() if self._waiting else None

    def pending(self) -> list[str]:
        """What `next` would give, in order."""
        return list(self._waiting)

    @staticmethod
    def answered(status: int, retry_after_s: float | None = None) -> Outcome:
        """What an answer means, by status; redirects are followed by whoever fetches.

        1. 2xx: read.  2. 304: keep.  3. 404, 410 and other 4xx: forget.  4. 401, 403, 407, 408, 425, 429 and
        5xx, or no answer (0): keep, and wait as told. A refusal today says nothing about the pages.
        """
        if 200 <= status < 300:
            return Outcome("read")
        if status == 304:
            return Outcome("keep")
        if 400 <= status < 500 and status not in (401, 403, 407, 408, 425, 429):
            return Outcome("forget")
        return Outcome("keep", retry_after_s)

    def found(self, sitemap: str, document: Document) -> list[str]:
        """Take in what an index names, or what looks like a sitemap in a urlset; the new addresses, which
        `next` hands out too."""
        own = resolve(self._home, sitemap) or sitemap
        depth = self._known.setdefault(own, 0) + 1
        new = []
        for entry in (*document.sitemaps, *document.probable_sitemaps):
            if host(entry.loc) not in (host(own), host(self._home)) and entry.loc not in self.named:
                self._note(
                    f"{shown(own)} names a sitemap on another host, which robots.txt does not: {shown(entry.loc)}"
                )
            elif depth > self._limits.depth:
                self._note(f"{shown(own)} is an index {depth} levels deep: not followed further")
                break
            elif self._add(own, entry.loc, depth=depth):
                new.append(entry.loc)
        return new

    def accepts(self, sitemap: str, page: str) -> bool:
        """Whether a sitemap may speak for a page: same host, or a sitemap that the home's robots.txt names."""
        own = resolve(self._home, sitemap) or sitemap
        address = resolve(own, page)
        if address is None:
            return False
        return host(address) == host(own) or (own in self._known and host(address) == host(self._home))

    def _add(self, base: str, named: str, *, depth: int) -> bool:
        address = resolve(base, named.strip())
        if address is None:
            self._note(f"not an http or https address of a sitemap: {shown(named)}")
            return False
        if address in self._known:
            return False
        if len(self._known) >= self._limits.sitemaps:
            self._note(f"more than {self._limits.sitemaps} sitemaps: the rest is not fetched")
            return False
        self._known[address] = depth
        self._waiting.append(address)
        return True

    def _note(self, problem: str) -> None:
        if problem not in self.problems and len(self.problems) < 50:
            self.problems.append(problem)
