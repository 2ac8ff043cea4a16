"""What a sitemap or feed says: its kind, its entries, and what was wrong with it.

Nothing here parses. `Limits` holds every bound that parsing keeps; the defaults are the protocol's own where
it names one (sitemaps.org: 50 MB unpacked, 50,000 entries) and the reason is beside the number where not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from .lastmod import epoch

__all__ = ["NOTHING", "Document", "Entry", "Kind", "Limits", "Problems"]

Kind = Literal["urlset", "index", "text", "rss", "atom", "json_feed", "not_a_sitemap"]

#: The one empty mapping that every entry without extensions shares.
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one document. Reaching one keeps what was read and adds a problem."""

    #: Unpacked bytes that are read (sitemaps.org: 52,428,800).
    bytes: int = 52_428_800
    #: Entries that are given out (sitemaps.org: 50,000).
    entries: int = 50_000
    #: gzip in gzip: twice happens (a `.gz` file compressed again in transit), more never in earnest.
    gzip_layers: int = 3
    #: Open elements that are tracked; a sitemap needs five, a feed with XHTML content a dozen.
    depth: int = 64
    #: Characters of one value or tag; the longest in earnest are video descriptions of 2,048.
    value: int = 65_536
    #: Characters of one address: four times what the protocol allows (2,048).
    url: int = 8_192
    #: Images, videos or alternates of one entry (Google: 1,000 images).
    extensions: int = 1_000
    #: A JSON feed is read whole, so it has a bound of its own, in characters.
    json: int = 10_000_000


@dataclass(slots=True)
class Entry:
    """One page, or one further sitemap (`is_sitemap`: its element says so), that a document names.

    `loc` is absolute, in WHATWG form, without fragment, always http or https. `lastmod` is the text as written.
    """

    loc: str
    lastmod: str | None = None
    changefreq: str | None = None
    priority: float | None = None
    #: On another host than the document: to be taken only when that host's robots.txt names the document.
    cross_site: bool = False
    is_sitemap: bool = False
    #: hreflang → address.
    alternates: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    images: tuple[str, ...] = ()
    #: Element name (`content_loc`, `player_loc`, `thumbnail_loc`, `title`, …) → first value.
    videos: tuple[Mapping[str, str], ...] = ()
    #: `name`, `language`, `publication_date`, `title`, …
    news: Mapping[str, str] = field(default_factory=lambda: NOTHING)

    @property
    def lastmod_epoch(self) -> int | None:
        """`lastmod` in seconds since 1970, or None where it is missing or no date."""
        return epoch(self.lastmod) if self.lastmod else None


class Problems:
    """What was wrong, in words, each kind of trouble counted once it repeats; memory is bounded."""

    #: Distinct messages kept: a hostile file must not be able to grow the list.
    MOST = 50

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def add(self, message: str) -> None:
        if message in self._seen or len(self._seen) < self.MOST:
            self._seen[message] = self._seen.get(message, 0) + 1

    def messages(self) -> list[str]:
        return [text if times == 1 else f"{text} ({times} times)" for text, times in self._seen.items()]


@dataclass(slots=True)
class Document:
    """A whole sitemap or feed. A broken one holds everything that could be read, and says so in `problems`.

    `sitemaps` are those an index names; what a urlset names is in `urls`, whatever its element.
    """

    kind: Kind
    urls: list[Entry] = field(default_factory=list)
    sitemaps: list[Entry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def own_urls(self) -> list[Entry]:
        """The pages on the document's own host."""
        return [entry for entry in self.urls if not entry.cross_site]

    @property
    def cross_site_urls(self) -> list[Entry]:
        """The pages on other hosts."""
        return [entry for entry in self.urls if entry.cross_site]

    @property
    def probable_sitemaps(self) -> list[Entry]:
        """Entries of `urls` that are sitemaps by their element or extension: some sites list them in a urlset."""
        return [
            entry
            for entry in self.urls
            if entry.is_sitemap or entry.loc.partition("?")[0].lower().endswith((".xml", ".xml.gz"))
        ]
