"""Fills page store and frontier from WARC (or ARC) files, so that everything downstream runs without a request.

Numbered cases of a record:

1. no HTTP response with a URL and a date (warcinfo, request, metadata, dns …): passed over;
2. a response of a domain no site file covers, or out of its scope: skipped, counted by domain;
3. a redirect: a frontier row, as a crawl would leave it; 4. an error status: a dead letter with its cause;
5. a body that is not whole, by its writer's word or by its own framing and coding: a dead letter, never a page;
6. a wall: kept in quarantine with its dead letter; 7. a page: its body in the page store, its row DONE;
8. a revisit "not modified": the stored page is confirmed at that time; 9. a revisit "identical payload": a page
like 7, with the body of the capture it refers to.

What the frontier has fetched later itself, or a newer capture, is never replaced by an older one. Bad files lose nothing that is whole: damage is
reported with its offset.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import xxhash

from resources.crawler import freshness
from resources.crawler.observations import REDIRECT_STATUSES
from resources.crawler.taxonomy import failure_kind, status_cause
from resources.crawler.territory import DomainRules, Territory
from resources.frontier.base import Frontier, Source, State, UrlRecord
from resources.pages.base import Kind, PageHead, PageStore, PageVersion
from resources.web.encoding import to_utf8
from resources.web.html_type import is_html
from resources.web.urls import canonical, domain_of, join, key, redact
from resources.web.walls import DETECTOR_VERSION, judge
from resources.web.warc import Damage, Exchange, Payload, WarcRecord, exchange_from, payload_digest, read_warc
from resources.web.warc.exchange import parse_warc_date, received_headers

__all__ = ["IntakeReport", "import_warc"]

#: Captures written at once: bounds memory (bodies of 20 MB at most) and keeps transactions cheap.
BATCH = 64
PRIORITY = 20


@dataclass(slots=True)
class IntakeReport:
    """What a file held. `skipped`: by reason; `damage`: what could not be read, with its offset."""

    records: int = 0
    pages: int = 0
    redirects: int = 0
    failed: int = 0
    walls: int = 0
    revisits: int = 0
    older: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    damage: list[str] = field(default_factory=list)
    domains: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Capture:
    """One response on its way in: its frontier row, and the body to store if there is one."""

    record: UrlRecord
    version: PageVersion | None = None


def import_warc(
    path: Path,
    frontier: Frontier,
    pages: PageStore,
    territory: Territory,
    run_id: str,
    *,
    salvage: bool = True,
) -> IntakeReport:
    """Take in one file. OSError if it cannot be read at all; `salvage` also searches behind damage."""
    intake = _Intake(frontier, pages, territory, run_id)
    with path.open("rb") as file:
        for entry in read_warc(file, salvage=salvage):
            if isinstance(entry, Damage):
                intake.report.damage.append(f"{path.name}: byte {entry.offset}: {entry.kind}: {entry.reason}")
            else:
                intake.take(entry)
    intake.flush()
    return intake.report


class _Intake:
    def __init__(self, frontier: Frontier, pages: PageStore, territory: Territory, run_id: str) -> None:
        self.report = IntakeReport()
        self._frontier = frontier
        self._pages = pages
        self._territory = territory
        self._run_id = run_id
        self._waiting: list[_Capture] = []

    # -- records -------------------------------------------------------------------------------------
    def take(self, record: WarcRecord) -> None:
        self.report.records += 1
        if record.type == "revisit":
            self._revisit(record)
            return
        found = exchange_from(record)
        if found is None:
            if record.type == "response":
                self.report.skipped["no HTTP response with a URL and a date"] += 1
            return
        exchange, payload = found
        placed = self._place(exchange.url)
        if placed is not None:
            fault = _fault(record, exchange.truncated, payload)
            self._add(self._capture(exchange, fault, *placed))

    def _add(self, capture: _Capture) -> None:
        self._waiting.append(capture)
        if len(self._waiting) >= BATCH:
            self.flush()

    def _place(self, raw: str) -> tuple[str, DomainRules] | None:
        """Canonical URL and rules of a target in scope; None is counted."""
        domain = domain_of(raw)
        rules = self._territory.rules(domain) if domain is not None else None
        url = canonical(raw, rules.policy) if rules is not None else None
        if rules is None or url is None:
            self.report.skipped[f"no site file covers {domain}" if domain else "no http(s) URL"] += 1
            return None
        if (out := rules.exclusion(url, 0)) is not None:
            self.report.skipped[f"out of scope ({out[1]})"] += 1
            return None
        self.report.domains.add(rules.domain)
        return url, rules

    def _capture(
        self, exchange: Exchange, fault: tuple[str, str] | None, url: str, rules: DomainRules
    ) -> _Capture:
        """Cases 3 to 7 of the module docstring."""
        at = exchange.fetched_at.timestamp()
        row = UrlRecord(
            key=key(url), url=url, domain=rules.domain, state=State.DONE, depth=0, priority=PRIORITY,
            source=Source.WARC, parent=None, discovered_at=at, fetches=1, done_at=at, status=exchange.status,
        )  # fmt: skip
        location = next((v for k, v in exchange.headers if k.lower() == "location"), None)
        if exchange.status in REDIRECT_STATUSES:
            target = join(url, location) if location else None
            row.cause, row.detail = "redirect", redact(target) if target else "without a target"
            row.due_at = at
            self.report.redirects += 1
            return _Capture(row)
        if not 200 <= exchange.status <= 299:
            return self._dead(
                row, status_cause(exchange.status), f"status {exchange.status} in the archive", at
            )
        if fault is not None:
            return self._dead(row, fault[0], f"not whole in the archive: {fault[1]}", at)
        return self._page(exchange, row, rules, at)

    def _dead(self, row: UrlRecord, cause: str, detail: str, at: float) -> _Capture:
        row.state, row.cause, row.detail = State.FAILED, cause, detail[:500]
        row.done_at, row.failed_at, row.attempts = None, at, 1
        row.next_eligible_at = at + failure_kind(cause).eligible_after_s
        self.report.failed += 1
        return _Capture(row)

    def _page(self, exchange: Exchange, row: UrlRecord, rules: DomainRules, at: float) -> _Capture:
        content_type = next((v for k, v in exchange.headers if k.lower() == "content-type"), None)
        text, encoding, source = exchange.body, "", ""
        if is_html(content_type, exchange.body):
            text, decision = to_utf8(exchange.body, content_type)
            encoding, source = decision.encoding, decision.source
        verdict = judge(exchange.status, exchange.headers, text, row.url)
        row.content_hash = xxhash.xxh3_128_digest(exchange.body)
        head = PageHead(
            key=row.key, url=row.url, domain=row.domain, kind=Kind.PAGE, status=exchange.status,
            headers=exchange.headers, content_hash=row.content_hash, body_bytes=len(exchange.body), fetched_at=at,
            validated_at=at, first_seen_at=at, changed_at=at, final_url=row.url, run_id=self._run_id,
            requested_at=at, encoding=encoding, encoding_source=source, verdict="ok",
            verdict_version=DETECTOR_VERSION, note="imported from WARC",
        )  # fmt: skip
        if verdict.blocked:
            name = f"{verdict.kind}/{verdict.vendor}" if verdict.vendor else str(verdict.kind)
            evidence = "; ".join(verdict.evidence)[:1000]
            aside = replace(head, kind=Kind.QUARANTINE, verdict=name, note=evidence)
            capture = self._dead(row, f"wall_{verdict.kind}", f"{name}: {evidence}", at)
            self.report.failed -= 1
            self.report.walls += 1
            return _Capture(capture.record, PageVersion(aside, exchange.body))
        row.due_at = freshness.due_at(rules.site, head, at)
        self.report.pages += 1
        return _Capture(row, PageVersion(head, exchange.body))

    def _revisit(self, record: WarcRecord) -> None:
        """Cases 8 and 9 of the module docstring."""
        moment = parse_warc_date(record.date or "")
        placed = self._place(record.target_uri or "") if moment is not None else None
        if moment is None or placed is None or record.http is None or record.http.status is None:
            return
        self.flush()
        self.report.revisits += 1
        url, rules = placed
        if record.http.status == 304:
            head = self._pages.head(key(url))
            if head is None:
                self.report.skipped["a revisit of a page that is not there"] += 1
            elif moment.timestamp() > head.validated_at:
                self._pages.touch([replace(head, validated_at=moment.timestamp())])
            return
        body = self._body_of(
            record.header("WARC-Refers-To-Target-URI") or url, record.header("WARC-Payload-Digest")
        )
        if body is None:
            self.report.skipped["a revisit whose body is not there"] += 1
            return
        exchange = Exchange(url, moment, record.http.status, received_headers(record.http.headers), body)
        self._add(self._capture(exchange, None, url, rules))

    def _body_of(self, target: str, digest: str | None) -> bytes | None:
        """The stored body with the payload digest a revisit names."""
        rules = self._territory.rules(domain_of(target) or "")
        url = canonical(target, rules.policy) if rules is not None else None
        for head in self._pages.history(key(url)) if url is not None else ():
            body = self._pages.body(head)
            if digest is None or payload_digest(body) == digest:
                return body
        return None

    # -- writing -------------------------------------------------------------------------------------
    def flush(self) -> None:
        """Bodies first, then the rows that name them; the newest last, so that it is current."""
        batch = sorted(self._waiting, key=lambda capture: capture.record.discovered_at)
        self._waiting = []
        known = {digest: self._frontier.get(digest) for digest in {c.record.key for c in batch}}
        newer = [c for c in batch if _last(known[c.record.key]) <= c.record.discovered_at]
        self.report.older += len(batch) - len(newer)
        if versions := [capture.version for capture in newer if capture.version is not None]:
            self._pages.put(versions)
        rows: dict[bytes, UrlRecord] = {}
        for capture in newer:
            row, before = capture.record, known[capture.record.key]
            if before is not None:
                row.depth, row.parent, row.source = before.depth, before.parent, before.source
                row.discovered_at, row.fetches = before.discovered_at, before.fetches + 1
            rows[row.key] = row
        if rows:
            self._frontier.put_records(list(rows.values()))


def _last(record: UrlRecord | None) -> float:
    """When a URL was last answered for; 0 for never."""
    return max(record.done_at or 0.0, record.failed_at or 0.0) if record is not None else 0.0


def _fault(record: WarcRecord, said: str | None, payload: Payload) -> tuple[str, str] | None:
    """(cause, words) of a body that is not whole. Numbered cases:

    1. its writer says so; 2. longer than may be read; 3. its coding or framing is broken or ends early;
    4. shorter than its own Content-Length.
    """
    if said:
        return "truncated", f"cut off by its writer: {said}"
    if payload.cut:
        return "too_large", "the body is longer than may be read"
    for problem in payload.problems:
        if "cut short" in problem:
            return "truncated", problem
        if "broken" in problem or " body: " in problem or problem.startswith("unknown content coding"):
            return "bad_coding", problem
    if not payload.problems and record.http is not None and record.http.all("content-length"):
        lengths = {value.strip() for value in record.http.all("content-length")}
        if len(lengths) == 1 and not record.http_is_complete():
            return "truncated", f"shorter than its Content-Length of {lengths.pop()}"
    return None
