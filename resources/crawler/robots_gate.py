"""robots.txt of each origin: fetched, kept with its history in the page store, asked before every request.

The conversation (statuses, redirects, outages, lifetimes) is `resources.web.robots`; this carries it out.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict

import xxhash

from resources.clock import Clock
from resources.fetcher.base import Fetcher, FetchRequest
from resources.pages.base import Kind, PageHead, PageVersion
from resources.web.robots import Answer, Copy, Decision, RobotsExchange, Verdict, product_token, robots_url
from resources.web.urls import key

from .storage import Storage
from .territory import DomainRules

__all__ = ["RobotsGate"]


class RobotsGate:
    """`verdict` for an origin, `decide` for a URL. One conversation per origin at a time."""

    def __init__(self, fetcher: Fetcher, storage: Storage, clock: Clock, run_id: str) -> None:
        self._fetcher = fetcher
        self._storage = storage
        self._clock = clock
        self._run_id = run_id
        self._verdicts: dict[str, Verdict] = {}
        self._asking: dict[str, asyncio.Lock] = {}
        #: Requests made for robots.txt, for the counters of the night.
        self.requests = 0

    def known(self, url: str) -> Verdict | None:
        """The verdict that holds now for the origin of `url`, if it need not be asked again."""
        verdict = self._verdicts.get(robots_url(url) or "")
        return verdict if verdict is not None and verdict.ask_again_at > self._clock.now() else None

    async def verdict(self, url: str, rules: DomainRules) -> Verdict:
        """The verdict for the origin of `url`: known, kept, or fetched now."""
        address = robots_url(url)
        if address is None:
            raise ValueError(f"{url} has no robots.txt: it is no http(s) URL")
        lock = self._asking.setdefault(address, asyncio.Lock())
        async with lock:
            known = self.known(url)
            if known is not None:
                return known
            found = await self._converse(address, rules)
            self._verdicts[address] = found
            return found

    async def decide(self, url: str, rules: DomainRules) -> tuple[Decision, Verdict]:
        """May `url` be fetched, by which line; with the verdict behind it."""
        verdict = self.known(url) or await self.verdict(url, rules)
        return verdict.decide(rules.token, url), verdict

    async def _converse(self, address: str, rules: DomainRules) -> Verdict:
        cached = await self._storage.patiently(self._load, address, rules.domain)
        exchange = RobotsExchange(address, now=self._clock.now(), cached=cached)
        while (request := exchange.request) is not None:
            self.requests += 1
            result = await self._fetcher.fetch(
                FetchRequest(request.url, rules.profile, tuple(request.headers.items()))
            )
            failed = result.cause is not None and result.status is None
            answer = Answer(
                result.status,
                dict(result.headers),
                result.body,
                result.error or str(result.cause) if failed else None,
            )
            exchange.receive(answer, now=self._clock.now())
        verdict = exchange.verdict
        await self._storage.patiently(self._save, address, rules.domain, verdict)
        return verdict

    def _load(self, address: str, domain: str) -> Copy | None:
        head = self._storage.pages.head(key(address), Kind.ROBOTS, domain=domain)
        if head is None or not head.note:
            return None
        return Copy(body=self._storage.pages.body(head), **json.loads(head.note))

    def _save(self, address: str, domain: str, verdict: Verdict) -> None:
        facts = asdict(verdict.copy)
        body: bytes = facts.pop("body")
        now = self._clock.now()
        head = PageHead(
            key=key(address), url=address, domain=domain, kind=Kind.ROBOTS, status=verdict.copy.status,
            headers=(), content_hash=xxhash.xxh3_128_digest(body), body_bytes=len(body),
            fetched_at=verdict.copy.fetched_at or now, validated_at=now, first_seen_at=now, changed_at=now,
            final_url=verdict.copy.url, run_id=self._run_id, note=json.dumps(facts),
        )  # fmt: skip
        self._storage.pages.put([PageVersion(head, body)])


#: The agent token under which robots.txt groups are looked up, exposed for the command line.
token_of = product_token
