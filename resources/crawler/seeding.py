"""Seeds a domain: the site file's seeds, then its sitemaps, then what is due again.

Sitemaps are fetched through the same fetcher, robots rules and address guard as pages, one at a time, and
enqueued in chunks while they are read, so a sitemap of 50,000 URLs never stands in memory twice. A sitemap
that cannot be had keeps what last night's gave. Nothing here is lost by a kill: enqueueing is idempotent.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from resources.clock import Clock
from resources.fetcher.base import Fetcher, FetchRequest, FetchResult
from resources.frontier.base import Discovery, EnqueueResult, Source
from resources.pages.base import Kind, PageHead, PageVersion
from resources.site.seeds import expand_seeds
from resources.web.retry_after import retry_after
from resources.web.sitemaps import Discovery as SitemapDiscovery
from resources.web.sitemaps import Document, Entry
from resources.web.sitemaps import parse as parse_sitemap
from resources.web.url_merging import standard_form
from resources.web.urls import canonical, join, key

from .merges.sample import MergeSample, sample_name
from .outlinks import SEED_PRIORITY, SITEMAP_PRIORITY, authority
from .robots_gate import RobotsGate
from .storage import Storage
from .territory import DomainRules, Territory

__all__ = ["SeedReport", "Seeder"]

log = logging.getLogger(__name__)

#: URLs per frontier call: large enough to be cheap, small enough for the heartbeat to pass between.
CHUNK = 2_000
#: Pause between two sitemaps of one domain when robots.txt names no Crawl-delay.
SITEMAP_GAP_S = 0.5
#: Entries of one sitemap that the site's rules merge with others, told to the audit of merged URLs.
MAX_MERGED = 1_000


@dataclass(slots=True)
class SeedReport:
    """What seeding a domain did."""

    domain: str
    seeds: int = 0
    sitemaps: int = 0
    sitemap_urls: int = 0
    new: int = 0
    known: int = 0
    due_again: int = 0
    excluded: int = 0
    requests: int = 0
    problems: list[str] = field(default_factory=list)
    robots: str = ""
    crawl_delay: float | None = None
    listed: set[bytes] = field(
        default_factory=set, repr=False
    )  # keys of sitemap URLs, for the coverage check

    def add(self, result: EnqueueResult) -> None:
        self.new += result.new
        self.known += result.known
        self.due_again += result.due_again
        self.excluded += result.excluded


class Seeder:
    """`seed(domain)` for each domain of a night. Safe to run again at any time."""

    def __init__(
        self,
        territory: Territory,
        storage: Storage,
        fetcher: Fetcher,
        gate: RobotsGate,
        clock: Clock,
        run_id: str,
    ) -> None:
        self._territory = territory
        self._storage = storage
        self._fetcher = fetcher
        self._gate = gate
        self._clock = clock
        self._run_id = run_id

    async def seed(self, domain: str, *, force: bool = False) -> SeedReport:
        """Enqueue everything the domain starts from. `force`: every done page is due."""
        rules = self._territory.rules(domain)
        report = SeedReport(domain)
        if rules is None:
            report.problems.append(f"no site file covers {domain}")
            return report
        folder = self._territory.catalog.folder or Path.cwd()
        seeds = await asyncio.to_thread(expand_seeds, rules.site.seeds, folder)
        own = [
            u for u in (self._canonical(rules, s) for s in seeds) if u is not None and authority(u) == domain
        ]
        if not own and not self._names_elsewhere(rules, seeds):
            own = [f"https://{domain}/"]
        report.seeds = len(own)
        await self._enqueue(rules, ((u, None) for u in own), Source.SEED, SEED_PRIORITY, report)
        if rules.site.sitemaps != "off":
            await self._sitemaps(rules, own[0] if own else f"https://{domain}/", report)
        now = self._clock.now()
        report.due_again += await self._storage.run(
            self._storage.frontier.requeue_due, domain, now, force=force
        )
        return report

    def _names_elsewhere(self, rules: DomainRules, seeds: list[str]) -> bool:
        """Whether the site has seeds or sitemaps that may lead here: then the front page is not assumed."""
        return bool(seeds) and len(rules.site.domains) > 1 and not rules.domain.startswith("*.")

    def _canonical(self, rules: DomainRules, url: str) -> str | None:
        return canonical(url, rules.policy)

    async def _enqueue(
        self,
        rules: DomainRules,
        urls: Iterable[tuple[str, float | None]],
        source: Source,
        priority: int,
        report: SeedReport,
    ) -> None:
        now = self._clock.now()
        chunk: list[Discovery] = []
        for url, lastmod in urls:
            out = rules.exclusion(url, 0)
            digest = key(url)
            if source is Source.SITEMAP:
                report.listed.add(digest)
            chunk.append(
                Discovery(
                    digest, url, rules.domain, 0, priority, source, lastmod=lastmod,
                    excluded=f"{out[0]}: {out[1]}" if out is not None else "",
                )
            )  # fmt: skip
            if len(chunk) >= CHUNK:
                report.add(await self._storage.run(self._storage.frontier.enqueue, chunk, now))
                chunk = []
        if chunk:
            report.add(await self._storage.run(self._storage.frontier.enqueue, chunk, now))

    # -- sitemaps ------------------------------------------------------------------------------------
    async def _sitemaps(self, rules: DomainRules, home: str, report: SeedReport) -> None:
        verdict = await self._gate.verdict(home, rules)
        report.robots = verdict.reason
        report.crawl_delay = verdict.robots.crawl_delay(rules.token)
        if verdict.temporary and not verdict.from_cache:
            report.problems.append(f"robots.txt: {verdict.reason}; sitemaps are left for later")
            return
        named = verdict.robots.sitemaps if rules.site.sitemaps == "auto" else rules.site.sitemaps
        discovery = SitemapDiscovery(home, named, guess=rules.site.sitemaps == "auto")
        gap = max(SITEMAP_GAP_S, min(report.crawl_delay or 0.0, rules.site.pace.crawl_delay_max))
        unlimited = rules.site.pace.rate == float("inf")
        while (address := discovery.next()) is not None:
            if report.requests and not unlimited:
                await self._clock.sleep(gap)
            if not await self._one_sitemap(rules, discovery, address, report):
                break
        report.problems += discovery.problems

    async def _one_sitemap(
        self, rules: DomainRules, discovery: SitemapDiscovery, address: str, report: SeedReport
    ) -> bool:
        """Read one sitemap; False: the site asked to be left alone."""
        guessed = address not in discovery.named
        if rules.site.robots == "obey":
            decision, _ = await self._gate.decide(address, rules)
            if not decision.allowed:
                report.problems.append(f"{address}: robots.txt line {decision.line} forbids it")
                return True
        result, final = await self._get(rules, address, report)
        if result.status is None:
            report.problems.append(f"{address}: {result.error or result.cause}")
            return True
        wait = retry_after(result.header("retry-after"), result.status, self._clock.now())
        outcome = discovery.answered(result.status, wait)
        if outcome.action == "keep" and result.status == 429:
            report.problems.append(
                f"{address}: asked to slow down (429); the rest of the sitemaps is for later"
            )
            return False
        if outcome.action != "read":
            if not guessed:
                report.problems.append(f"{address}: status {result.status}")
            return True
        if result.cause is not None:
            report.problems.append(f"{address}: {result.error or result.cause}; read as far as it goes")
        document = await asyncio.to_thread(parse_sitemap, result.body, final, result.header("content-type"))
        if document.kind == "not_a_sitemap":
            if not guessed:
                report.problems.append(f"{address}: is no sitemap")
            return True
        await self._storage.run(self._keep, rules.domain, address, result)
        await self._take(rules, discovery, address, final, document, report)
        return True

    async def _take(
        self,
        rules: DomainRules,
        discovery: SitemapDiscovery,
        address: str,
        final: str,
        document: Document,
        report: SeedReport,
    ) -> None:
        report.sitemaps += 1
        report.problems += [f"{address}: {p}" for p in document.problems]
        discovery.found(final, document)
        probable = {id(e) for e in document.probable_sitemaps}
        by_domain: dict[str, list[tuple[str, float | None]]] = {}
        merged: list[tuple[str, str]] = []
        for entry in document.urls:
            if id(entry) in probable or not discovery.accepts(address, entry.loc):
                continue
            self._sort(entry, rules, by_domain, merged)
        if merged:
            await self._storage.run(self._sample, rules, merged)
        for domain, urls in by_domain.items():
            owner = self._territory.rules(domain)
            if owner is not None:
                report.sitemap_urls += len(urls)
                await self._enqueue(owner, urls, Source.SITEMAP, SITEMAP_PRIORITY, report)

    def _sort(
        self,
        entry: Entry,
        rules: DomainRules,
        by_domain: dict[str, list[tuple[str, float | None]]],
        merged: list[tuple[str, str]],
    ) -> None:
        url = canonical(entry.loc, rules.policy)
        if url is not None:
            standard = standard_form(entry.loc) if len(merged) < MAX_MERGED else None
            if standard is not None and standard != url:
                merged.append((standard, url))
            modified = entry.lastmod_epoch
            by_domain.setdefault(authority(url), []).append(
                (url, float(modified) if modified is not None else None)
            )

    async def _get(self, rules: DomainRules, address: str, report: SeedReport) -> tuple[FetchResult, str]:
        """The sitemap's bytes, redirects followed (at most as many as pages may have)."""
        url = address
        for _ in range(rules.site.limits.max_redirects + 1):
            report.requests += 1
            result = await self._fetcher.fetch(FetchRequest(url, rules.profile))
            location = result.header("location") if result.status in (301, 302, 303, 307, 308) else None
            target = join(url, location) if location else None
            if target is None:
                return result, url
            url = target
        return result, url

    def _sample(self, rules: DomainRules, merged: list[tuple[str, str]]) -> None:
        """Entries that the site's rules merge with others, for the audit of merged URLs."""
        frontier, name = self._storage.frontier, sample_name(rules.domain)
        sample = MergeSample(rules.domain, rules.policy, frontier.get_value(name), random.Random())
        sample.saw(merged)
        if sample.dirty:
            frontier.set_value(name, sample.to_json())

    def _keep(self, domain: str, address: str, result: FetchResult) -> None:
        now = self._clock.now()
        head = PageHead(
            key=key(address), url=address, domain=domain, kind=Kind.SITEMAP, status=result.status or 0,
            headers=result.headers, content_hash=xxhash.xxh3_128_digest(result.body), body_bytes=len(result.body),
            fetched_at=now, validated_at=now, first_seen_at=now, changed_at=now, run_id=self._run_id,
        )  # fmt: skip
        self._storage.pages.put([PageVersion(head, result.body)])
