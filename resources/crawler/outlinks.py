"""From the links of a page to what goes into the frontier: scope asked, other domains told apart."""

from __future__ import annotations

from collections.abc import Iterable

from resources.frontier.base import Discovery, Source
from resources.web.urls import key

from .territory import DomainRules, Territory

__all__ = ["LINK_PRIORITY", "SEED_PRIORITY", "SITEMAP_PRIORITY", "Outlinks", "authority"]

#: Smaller goes first: seeds, then what the site itself lists, then links by depth.
SEED_PRIORITY = 0
SITEMAP_PRIORITY = 10
LINK_PRIORITY = 20
#: Remembered links that this crawl has already handed to the frontier, per generation, some 150 bytes each in memory
#: (the URLs, not their keys: those that `LinkMemo` gives carry their hash). Only a shortcut: a URL that is not here is
#: enqueued again and the frontier decides.
MAX_REMEMBERED = 32_768
#: A URL longer than this is no page but a trap or a mistake (servers refuse them from 8 KB on).
MAX_URL = 4096


def authority(canonical_url: str) -> str:
    """The domain of a canonical URL: the text between `//` and the next `/`. No parsing, 0.2 µs."""
    start = canonical_url.index("//") + 2
    end = canonical_url.find("/", start)
    return canonical_url[start:] if end < 0 else canonical_url[start:end]


class Outlinks:
    """Turns canonical links into discoveries. Remembers what it has just handed over."""

    def __init__(self, territory: Territory) -> None:
        self._territory = territory
        # Two generations: what is met again stays, and at no moment all is forgotten.
        self._recent: set[str] = set()
        self._older: set[str] = set()

    def discoveries(
        self,
        rules: DomainRules,
        links: Iterable[str],
        parent: bytes,
        depth: int,
        *,
        source: Source = Source.LINK,
        redirects: int = 0,
    ) -> list[Discovery]:
        """Discoveries of new-looking URLs at `depth`. Links no site file covers are left to the links table."""
        found: list[Discovery] = []
        recent, older = self._recent, self._older
        priority = LINK_PRIORITY + min(depth, 1000)
        for url in links:
            if source is not Source.REDIRECT:
                if url in recent:
                    continue
                if url in older:
                    recent.add(url)
                    continue
            domain = authority(url)
            owner = rules if domain == rules.domain else self._territory.rules(domain) if domain else None
            if owner is None:
                continue
            if len(recent) >= MAX_REMEMBERED:
                recent, older = self._recent, self._older = set(), recent
            recent.add(url)
            if len(url) > MAX_URL:
                out: tuple[str, str] | None = ("too_long", f"{len(url):,} characters; at most {MAX_URL:,}")
            else:
                out = owner.exclusion(url, depth)
            found.append(
                Discovery(
                    key(url), url[:MAX_URL], domain, depth, priority, source, parent, redirects,
                    excluded=f"{out[0]}: {out[1]}" if out is not None else "",
                )
            )  # fmt: skip
        return found

    def forget(self, discoveries: Iterable[Discovery]) -> None:
        """Their commit failed or was refused: hand them over again when met again."""
        for discovery in discoveries:
            if len(discovery.url) >= MAX_URL:
                self._recent.clear()  # it was cut: which one it was cannot be told
                self._older.clear()
            self._recent.discard(discovery.url)
            self._older.discard(discovery.url)
