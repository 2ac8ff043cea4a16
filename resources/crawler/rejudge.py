"""Stored bodies judged again when the wall detector has a new version: without a request, in both directions.

Every head tells which version of the detector judged its body. Numbered cases of a body judged by another one:

1. quarantined and still a wall: its head gets the new verdict;
2. quarantined and no wall any more: it becomes the page, its links go into the frontier, its URL is done. Unless the
   URL has had a page since, or somebody is about to fetch it;
3. stored as a page and now a wall: quarantined, its URL failed by that cause, so that a retry pass asks again;
4. stored as a page and still one: its head gets the new version.

Pages that their parser died of were never judged and are left alone. At most `MOST` bodies a call: the rest keep their
old version and are found by the next one. A kill costs nothing: what becomes durable first is what the next step rests
on, and doing it again changes nothing. Costs a look at every head, and 0.3–1 ms for each body judged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from resources.fetcher.base import FetchResult
from resources.frontier.base import Frontier, State, UrlRecord
from resources.pages.base import Kind, PageHead, PageStore, PageVersion
from resources.web.walls import DETECTOR_VERSION, Verdict

from . import freshness
from .outlinks import Outlinks
from .page_links import PageReader
from .parser_guard import ParserGuard, ParserLost
from .read_page import ReadPage
from .storage import Storage
from .taxonomy import failure_kind
from .territory import DomainRules, Territory

__all__ = ["MOST", "Rejudge", "Rejudged"]

#: Bodies judged in one call: a minute of one core at the worst, so that a new detector holds up no night.
MOST = 50_000
#: Bodies read at once, and a chance for everything else in between.
CHUNK = 64
#: The verdict of pages that never were judged.
_NEVER_JUDGED = "parser_crash"

_Judged = tuple[PageHead, bytes, ReadPage]


@dataclass(slots=True)
class Rejudged:
    """Counts of one call. `left`: whether there are more."""

    judged: int = 0
    released: int = 0
    """Quarantined bodies that became pages."""
    quarantined: int = 0
    """Pages that are walls now."""
    left: bool = False


class Rejudge:
    """`await domain(rules)` for each domain."""

    def __init__(
        self,
        storage: Storage,
        territory: Territory,
        guard: ParserGuard,
        *,
        version: str = DETECTOR_VERSION,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`version`: that of the detector in use, given for tests."""
        self._storage = storage
        self._outlinks = Outlinks(territory)
        self._reader = PageReader(guard)
        self._version = version
        self._now = now

    async def domain(
        self, rules: DomainRules, *, most: int = MOST, stopped: Callable[[], bool] = lambda: False
    ) -> Rejudged:
        """Judge what another version judged: quarantined bodies first, then pages."""
        done = Rejudged()
        for kind in (Kind.QUARANTINE, Kind.PAGE):
            after = b""
            while not done.left:
                room = min(CHUNK, most - done.judged)
                found, after = await self._storage.run(self._next, rules.domain, kind, after, room)
                if not found:
                    break
                if room <= 0 or stopped():
                    done.left = True
                    break
                judged: list[_Judged] = []
                for head, body in found:
                    page = await self._read(head, body, rules)
                    if page is not None:
                        judged.append((head, body, page))
                    await asyncio.sleep(0)  # other domains are being fetched meanwhile
                settle = self._settle_aside if kind is Kind.QUARANTINE else self._settle_page
                await self._storage.run(settle, rules, judged, done)
                done.judged += len(judged)
        return done

    def _next(
        self, domain: str, kind: Kind, after: bytes, limit: int
    ) -> tuple[list[tuple[PageHead, bytes]], bytes]:
        """Up to `limit` (at least one, to see whether there are more) bodies to judge after that key, and the last
        key looked at."""
        pages = self._storage.pages
        heads = list(islice(self._outdated(pages, domain, kind, after), max(1, limit)))
        # What is gone or damaged is left out: the catalogue names it.
        found = [
            (head, body) for head, body in zip(heads, pages.bodies(heads), strict=True) if body is not None
        ]
        return found, heads[-1].key if heads else after

    def _outdated(self, pages: PageStore, domain: str, kind: Kind, after: bytes) -> Iterator[PageHead]:
        for head in pages.scan(domain, kind, after):
            if head.verdict_version != self._version and head.verdict != _NEVER_JUDGED:
                yield head

    async def _read(self, head: PageHead, body: bytes, rules: DomainRules) -> ReadPage | None:
        """What is read of the page now; None when its parser dies of it: it stays what it is."""
        result = FetchResult(head.url, head.requested_at, head.status, head.headers, body)
        try:
            page = await self._reader.read_apart(head.key, result, rules)
        except ParserLost:
            return None
        return page if page is not None else self._reader.read(head.key, result, rules)

    # -- in the storage thread -------------------------------------------------------------------------
    def _settle_aside(self, rules: DomainRules, judged: list[_Judged], done: Rejudged) -> None:
        pages, frontier = self._storage.pages, self._storage.frontier
        touched = []
        for head, body, page in judged:
            if page.verdict.blocked:
                touched.append(self._aside(head, page.verdict))
                self._rename(frontier, head, page.verdict)
                continue
            if self._release(rules, head, body, page):
                done.released += 1
            # What was set aside stays readable there, as a body that was a wall once.
            touched.append(
                replace(head, verdict="ok", verdict_version=self._version, note="no wall any more")
            )
        pages.touch(touched)

    def _release(self, rules: DomainRules, head: PageHead, body: bytes, page: ReadPage) -> bool:
        """Case 2. The page is durable before its links, and these before its URL is done."""
        pages, frontier = self._storage.pages, self._storage.frontier
        record = frontier.get(head.key)
        current = pages.head(head.key, domain=head.domain)
        if current is not None and current.fetched_at >= head.fetched_at:
            return False
        if record is None or record.state in (State.DONE, State.LEASED, State.EXCLUDED):
            return False
        new = replace(head, kind=Kind.PAGE, verdict="ok", verdict_version=self._version, note="")
        pages.put([PageVersion(new, body)])
        links = self._outlinks.discoveries(rules, page.links if page.follow else [], head.key, head.depth + 1)
        if links:
            frontier.enqueue(links, self._now())
        frontier.put_records(
            [
                replace(
                    record, state=State.DONE, attempts=0, not_before=None, done_at=head.fetched_at,
                    due_at=freshness.due_at(rules.site, new, head.fetched_at), status=head.status, cause="", detail="",
                    next_eligible_at=None, failed_at=None, content_hash=head.content_hash,
                )
            ]
        )  # fmt: skip
        return True

    def _settle_page(self, rules: DomainRules, judged: list[_Judged], done: Rejudged) -> None:
        pages, frontier = self._storage.pages, self._storage.frontier
        touched = []
        for head, _, page in judged:
            if not page.verdict.blocked:
                touched.append(replace(head, verdict="ok", verdict_version=self._version))
                continue
            aside = self._aside(head, page.verdict)
            record = frontier.get(head.key)
            if record is not None and record.state is State.DONE:
                frontier.put_records([self._failed(record, page.verdict)])
            pages.quarantine(head, aside.verdict, self._version, aside.note)
            done.quarantined += 1
        pages.touch(touched)

    def _aside(self, head: PageHead, verdict: Verdict) -> PageHead:
        name = f"{verdict.kind}/{verdict.vendor}" if verdict.vendor else verdict.kind
        note = "; ".join(verdict.evidence)[:1000]
        return replace(head, verdict=name, verdict_version=self._version, note=note)

    def _failed(self, record: UrlRecord, verdict: Verdict) -> UrlRecord:
        cause, now = f"wall_{verdict.kind}", self._now()
        return replace(
            record, state=State.FAILED, cause=cause, detail="; ".join(verdict.evidence)[:500], failed_at=now,
            next_eligible_at=now + failure_kind(cause).eligible_after_s, due_at=None, content_hash=None,
        )  # fmt: skip

    def _rename(self, frontier: Frontier, head: PageHead, verdict: Verdict) -> None:
        """A dead letter tells the cause as it is understood now."""
        record = frontier.get(head.key)
        cause = f"wall_{verdict.kind}"
        if record is None or record.state is not State.FAILED or record.cause == cause:
            return
        if record.cause.startswith("wall_"):
            frontier.put_records([replace(record, cause=cause, detail="; ".join(verdict.evidence)[:500])])
