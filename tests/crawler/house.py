"""A house for crawls in this process: one installation in a temporary folder, nights run to their end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from practice_site import RemoteSite
from practice_site.shop import identity
from practice_site.site_file import site_yaml
from resources.crawler.order import CrawlOrder, DomainReport
from resources.crawler.session import CrawlSession
from resources.frontier.base import State, StateCounts, UrlRecord
from resources.installation import Installation

__all__ = ["House"]


@dataclass
class House:
    """`write` a site file, then `night` after night."""

    folder: Path
    pace: dict[str, Any] = field(default_factory=lambda: {"rate": "unlimited", "concurrency": 8})

    def __post_init__(self) -> None:
        self.installation = Installation.at(self.folder / "data", self.folder / "sites")
        self.installation.sites.mkdir(parents=True, exist_ok=True)
        self.nights = 0

    def write(self, *domains: str, name: str = "practice", **changes: Any) -> None:
        text = site_yaml(list(domains), name=name, changes={"pace": self.pace} | changes)
        (self.installation.sites / f"{name}.yaml").write_text(text)

    def night(self, *domains: str, **order: Any) -> dict[str, DomainReport]:
        """Seed and crawl; reports by domain."""
        self.nights += 1
        run_id = f"night-{self.nights}"

        async def go() -> list[DomainReport]:
            async with CrawlSession(self.installation, run_id) as session:
                await session.seed(domains)
                reports = await session.crawl(CrawlOrder(domains, run_id, **order))
                session.pacer.end_night(run_id, session.clock.now())
                return reports

        return {r.domain: r for r in asyncio.run(go())}

    def counts(self, domain: str) -> StateCounts:
        frontier = self.installation.open_frontier()
        try:
            counts = frontier.counts(domain)
            assert counts == frontier.recount(domain)
            assert counts.leased == 0
            return counts
        finally:
            frontier.close()

    def records(self, domain: str, *states: State) -> list[UrlRecord]:
        frontier = self.installation.open_frontier()
        try:
            return list(frontier.records(domain, states or None))
        finally:
            frontier.close()

    def excluded(self, domain: str) -> Mapping[str, int]:
        """Excluded URLs by the first words of the reason."""
        return Counter(r.cause.split(" http")[0] for r in self.records(domain, State.EXCLUDED))

    def stored(self, site: RemoteSite) -> set[str]:
        """URLs of the stored pages, session ids off."""
        pages = self.installation.open_pages()
        try:
            return {site.origin + identity(h.url.removeprefix(site.origin)) for h in pages.scan(site.domain)}
        finally:
            pages.close()
