"""What a response means: from a fetch result to an ack, a body to store, links to follow, a word for pacing.

Numbered cases of `Digester.digest`, and exactly these branches below:

1. no usable response (cause set, status or not): repeated if it was lost with its connection, else retry table;
2. 304: the stored body is confirmed, its head refreshed;
3. 3xx: the target is enqueued like any link, one hop further; nothing is followed here;
4. other status than success: retry table;
5. success but a page the parser dies of: quarantined, a dead letter;
6. success but a wall, soft 404 or empty shell: quarantined, never stored as the page;
7. success: stored, links out, due again when it goes stale.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import xxhash

from resources.clock import Clock
from resources.fetcher.base import Cause, FetchResult
from resources.frontier.base import Ack, Claim, FetchLogRow, Source, Verdict
from resources.pacing.base import Observation, Outcome
from resources.pages.base import Kind, PageHead, PageVersion
from resources.web.urls import canonical, join
from resources.web.walls import DETECTOR_VERSION

from . import freshness
from .lane import Lane
from .observations import REDIRECT_STATUSES, asked_wait, observe, pace_word
from .order import CrawlOrder
from .outlinks import Outlinks
from .page_links import PageReader
from .parser_guard import ParserGuard, ParserLost
from .read_page import ReadPage
from .taxonomy import DOMAIN_CAUSES, DOMAIN_WALLS, status_cause
from .territory import Territory

__all__ = ["Digest", "Digester"]


@dataclass(slots=True)
class Digest:
    """All consequences of one fetch."""

    ack: Ack
    observation: Observation
    version: PageVersion | None = None
    head: PageHead | None = None  # a refreshed head (304)


class Digester:
    """Stateless but for the random generator of the jitter and a memory of links just handed over."""

    def __init__(
        self,
        order: CrawlOrder,
        territory: Territory,
        clock: Clock,
        rng: random.Random,
        guard: ParserGuard | None = None,
    ) -> None:
        self._order = order
        self._clock = clock
        self._rng = rng
        self.outlinks = Outlinks(territory)
        self._reader = PageReader(guard)

    # -- before the request --------------------------------------------------------------------------
    def validators(self, claim: Claim, head: PageHead | None) -> tuple[tuple[str, str], ...]:
        """If-None-Match and If-Modified-Since for a stored page; nothing for a new one."""
        return freshness.validators(head) if head is not None else ()

    def excluded(self, lane: Lane, claim: Claim, reason: str, detail: str, instead: str | None = None) -> Ack:
        """An ack for a URL that is not fetched at all. `instead`: a URL that stands for it, to be enqueued."""
        now = self._clock.now()
        lane.report.excluded += 1
        log = FetchLogRow(
            claim.url, claim.domain, self._order.run_id, self._order.worker, claim.attempts, now, None, 0.0, None,
            "excluded", cause=reason, rule=detail,
        )  # fmt: skip
        links = self.outlinks.discoveries(lane.rules, [instead] if instead else [], claim.key, claim.depth)
        return Ack(claim, Verdict.EXCLUDED, now, cause=reason, detail=detail, outlinks=links, log=log)

    # -- after it ------------------------------------------------------------------------------------
    async def read_apart(self, lane: Lane, claim: Claim, result: FetchResult) -> ReadPage | ParserLost | None:
        """What another process read from a page that is not to be parsed in this one; None for ordinary pages."""
        if result.cause is not None or result.status is None or not 200 <= result.status <= 299:
            return None
        try:
            return await self._reader.read_apart(claim.key, result, lane.rules)
        except ParserLost as lost:
            return lost

    def digest(
        self,
        lane: Lane,
        claim: Claim,
        head: PageHead | None,
        result: FetchResult,
        apart: ReadPage | ParserLost | None = None,
    ) -> Digest:
        """See the module docstring. `apart`: what `read_apart` gave."""
        now = self._clock.now()
        status = result.status
        wait = asked_wait(result, now)
        self._count(lane, result)
        if result.cause is not None:
            if result.lost and lane.repeats(claim):
                lane.guard.lost(claim)
                return self._repeated(claim, result, now)
            self._count_failure(lane, result.cause)
            done = self._failed(lane, claim, result, str(result.cause), result.error, now, wait)
        elif status == 304 and head is not None:
            done = self._confirmed(lane, claim, head, result, now)
        elif status in REDIRECT_STATUSES:
            done = self._redirected(lane, claim, result, now)
        elif status is None or not 200 <= status <= 299:
            words = f"status {status}" + (f", Retry-After {wait:g} s" if wait is not None else "")
            done = self._failed(lane, claim, result, status_cause(status or 0), words, now, wait)
        else:
            done = self._page(lane, claim, head, result, now, apart)
        if done.version is None or done.ack.verdict is not Verdict.DONE:
            lane.guard.lost(claim)
        return done

    def _count(self, lane: Lane, result: FetchResult) -> None:
        report = lane.report
        report.requests += 1
        report.wire_bytes += result.wire_bytes
        report.body_bytes += len(result.body)
        report.ttfb_sum_s += result.ttfb_s or 0.0
        report.duration_sum_s += result.duration_s
        if (status := result.status) is not None:
            report.statuses[status] = report.statuses.get(status, 0) + 1
            report.throttled += status in (429, 503)
            report.forbidden += status == 403
            report.server_errors += status >= 500

    def _count_failure(self, lane: Lane, cause: Cause) -> None:
        report, word = lane.report, pace_word(cause)
        report.timeouts += word is Outcome.TIMEOUT
        report.connect_errors += word in (Outcome.CONNECT_ERROR, Outcome.DNS, Outcome.TLS)
        report.truncated += word is Outcome.TRUNCATED

    def _log(
        self,
        claim: Claim,
        result: FetchResult,
        outcome: str,
        *,
        cause: str = "",
        error: str = "",
        wait: float | None = None,
        revalidated: bool = False,
        redirect_to: str = "",
        rule: str = "",
    ) -> FetchLogRow:
        return FetchLogRow(
            url=claim.url, domain=claim.domain, run_id=self._order.run_id, worker=self._order.worker,
            attempt=claim.attempts + 1, started_at=result.started_at,
            ttfb_ms=round(result.ttfb_s * 1000, 3) if result.ttfb_s is not None else None,
            duration_ms=round(result.duration_s * 1000, 3), status=result.status, outcome=outcome,
            revalidated=revalidated, wire_bytes=result.wire_bytes, body_bytes=len(result.body),
            retry_after_s=wait, error=error[:500], cause=cause, redirect_to=redirect_to, rule=rule,
        )  # fmt: skip

    def _repeated(self, claim: Claim, result: FetchResult, now: float) -> Digest:
        """Claimable at once, nothing counted but the request. For the pace it is no news: the repeat will tell."""
        ack = Ack(
            claim, Verdict.RETRY, now, not_before=now, counts_attempt=False, cause=str(result.cause),
            detail=result.error[:500],
            log=self._log(claim, result, "lost", cause=str(result.cause), error=result.error),
        )  # fmt: skip
        return Digest(ack, observe(result, Outcome.REFUSED_HERE, now))

    def _failed(
        self,
        lane: Lane,
        claim: Claim,
        result: FetchResult,
        cause: str,
        error: str,
        now: float,
        wait: float | None,
        *,
        pace: str | None = None,
        version: PageVersion | None = None,
        outcome: str = "",
    ) -> Digest:
        step = lane.rules.retry.next_step(cause, claim.attempts, now, self._rng, wait)
        report = lane.report
        report.causes[cause] = report.causes.get(cause, 0) + 1
        if step.verdict is Verdict.RETRY:
            report.retries += 1
        else:
            report.failed += 1
        if pace is None:
            pace = pace_word(result.cause) if result.cause is not None else Outcome.OK
        if self._order.stage == "retry" and cause not in DOMAIN_CAUSES:
            # These URLs are asked because they failed before: that they do again is no news about the domain.
            pace = Outcome.REFUSED_HERE
        word = outcome or ("retry" if step.verdict is Verdict.RETRY else "failed")
        ack = Ack(
            claim, step.verdict, now,
            not_before=step.at if step.verdict is Verdict.RETRY else None,
            counts_attempt=step.counts, cause=cause, detail=error[:500], status=result.status,
            next_eligible_at=step.at if step.verdict is Verdict.FAILED else None,
            log=self._log(claim, result, word, cause=cause, error=error, wait=wait),
        )  # fmt: skip
        if cause == str(Cause.ADDRESS_REFUSED):
            report.failed -= 1
            report.excluded += 1
            ack = replace(ack, verdict=Verdict.EXCLUDED, next_eligible_at=None)
        return Digest(ack, observe(result, pace, now, wait), version)

    def _confirmed(self, lane: Lane, claim: Claim, head: PageHead, result: FetchResult, now: float) -> Digest:
        lane.report.not_modified += 1
        fresh = freshness.confirmed(head, result, now)
        due = freshness.due_at(lane.rules.site, fresh, now)
        ack = Ack(
            claim, Verdict.DONE, now, due_at=due, status=304, content_hash=head.content_hash,
            log=self._log(claim, result, "not_modified", revalidated=True),
        )  # fmt: skip
        return Digest(ack, observe(result, Outcome.NOT_MODIFIED, now), head=fresh)

    def _redirected(self, lane: Lane, claim: Claim, result: FetchResult, now: float) -> Digest:
        """Numbered cases: 1. no usable target; 2. to itself; 3. too many hops; 4. a new URL to visit."""
        location = result.header("location")
        joined = join(claim.url, location) if location else None
        target = canonical(joined, lane.rules.policy) if joined is not None else None
        if target is None:
            words = f"status {result.status} with Location {location[:200] if location else 'missing'!r}"
            return self._failed(
                lane, claim, result, "redirect_without_target", words, now, None, pace=Outcome.REDIRECT
            )
        if target == claim.url:
            return self._failed(
                lane,
                claim,
                result,
                "redirect_loop",
                f"redirects to itself: {location}",
                now,
                None,
                pace=Outcome.REDIRECT,
            )
        limit = lane.rules.site.limits.max_redirects
        if claim.redirects >= limit:
            words = f"{claim.redirects + 1} redirects in a row; at most {limit}"
            return self._failed(
                lane, claim, result, "too_many_redirects", words, now, None, pace=Outcome.REDIRECT
            )
        lane.report.redirects += 1
        links = self.outlinks.discoveries(
            lane.rules,
            [target],
            claim.key,
            claim.depth,
            source=Source.REDIRECT,
            redirects=claim.redirects + 1,
        )
        due = freshness.redirect_due_at(lane.rules.site, result, now)
        ack = Ack(
            claim, Verdict.DONE, now, due_at=due, status=result.status, cause="redirect", detail=target,
            outlinks=links, log=self._log(claim, result, "redirect", redirect_to=target),
        )  # fmt: skip
        return Digest(ack, observe(result, Outcome.REDIRECT, now))

    def _page(
        self,
        lane: Lane,
        claim: Claim,
        head: PageHead | None,
        result: FetchResult,
        now: float,
        apart: ReadPage | ParserLost | None,
    ) -> Digest:
        if isinstance(apart, ParserLost):
            aside = self._head(lane, claim, result, now, "", "")
            aside = replace(
                aside,
                kind=Kind.QUARANTINE,
                verdict="parser_crash",
                verdict_version="",
                note=str(apart)[:1000],
            )
            return self._failed(
                lane, claim, result, "parser_crash", str(apart), now, None, pace=Outcome.OK,
                version=PageVersion(aside, result.body),
            )  # fmt: skip
        page = apart if apart is not None else self._reader.read(claim.key, result, lane.rules)
        usual = head.body_bytes if head is not None else None
        verdict = page.verdict
        new = self._head(lane, claim, result, now, page.encoding, page.encoding_source)
        if verdict.blocked:
            name = f"{verdict.kind}/{verdict.vendor}" if verdict.vendor else verdict.kind
            evidence = "; ".join(verdict.evidence)
            aside = replace(
                new,
                kind=Kind.QUARANTINE,
                verdict=name,
                verdict_version=DETECTOR_VERSION,
                note=evidence[:1000],
            )
            turned_away = verdict.kind in DOMAIN_WALLS
            lane.report.walls += turned_away
            pace = Outcome.WALL if turned_away else Outcome.OK
            return self._failed(
                lane, claim, result, f"wall_{verdict.kind}", f"{name}: {evidence}", now, None, pace=pace,
                version=PageVersion(aside, result.body), outcome="wall",
            )  # fmt: skip
        if lane.merges is not None and page.merged:
            lane.merges.saw(page.merged)
        named = lane.guard.rewrite(page.links) if page.follow else []
        links = self.outlinks.discoveries(lane.rules, named, claim.key, claim.depth + 1)
        links = lane.guard.page(claim, result.body, new.content_hash, named, links, lane.rules.makes_rows)
        lane.report.ok += 1
        lane.report.changed += head is not None and head.content_hash != new.content_hash
        due = freshness.due_at(lane.rules.site, new, now)
        keep = not (lane.rules.site.cache.respect_no_store and freshness.no_store(new))
        ack = Ack(
            claim, Verdict.DONE, now, due_at=due, status=result.status, content_hash=new.content_hash,
            outlinks=links, log=self._log(claim, result, "ok", rule=page.cut),
        )  # fmt: skip
        return Digest(
            ack,
            observe(result, Outcome.OK, now, usual=usual),
            PageVersion(new, result.body) if keep else None,
        )

    def _head(
        self, lane: Lane, claim: Claim, result: FetchResult, now: float, encoding: str, source: str
    ) -> PageHead:
        return PageHead(
            key=claim.key, url=claim.url, domain=claim.domain, kind=Kind.PAGE, status=result.status or 0,
            headers=result.headers, content_hash=xxhash.xxh3_128_digest(result.body), body_bytes=len(result.body),
            fetched_at=now, validated_at=now, first_seen_at=now, changed_at=now, final_url=claim.url,
            run_id=self._order.run_id, depth=claim.depth, requested_at=result.started_at,
            vary=freshness.vary(result, lane.rules), encoding=encoding, encoding_source=source, verdict="ok",
            verdict_version=DETECTOR_VERSION,
        )  # fmt: skip
