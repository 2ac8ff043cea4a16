"""Where the story of a URL comes from: one function a source. Each says nothing where its storage has nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .terminal import instant

if TYPE_CHECKING:
    from resources.crawler.territory import DomainRules
    from resources.installation import Installation
    from resources.pages.base import PageHead, PageStore

__all__ = ["cached", "fetches", "frontier_row", "robots", "rows", "scope"]

#: Rows of the running night's log looked through for one URL: some seconds at most.
LOG_ROWS = 2_000_000
_CHUNK = 20_000


def scope(rules: DomainRules | None, url: str) -> str:
    """Why the URL is out of scope now, or ""."""
    if rules is None:
        return "links there are recorded, not followed"
    out = rules.exclusion(url, 0)
    return f"excluded: {out[1]}" if out else ""


def frontier_row(installation: Installation, digest: bytes) -> dict[str, Any] | None:
    from resources.web.urls import redact

    frontier = installation.prepare().open_frontier()
    try:
        record = frontier.get(digest)
        if record is None:
            return None
        parent = frontier.get(record.parent) if record.parent else None
    finally:
        frontier.close()
    times = (
        "discovered_at",
        "not_before",
        "lease_until",
        "done_at",
        "due_at",
        "next_eligible_at",
        "failed_at",
    )
    moments = {name: instant(v) if (v := getattr(record, name)) is not None else None for name in times}
    return {
        "state": record.state.name.lower(),
        "cause": record.cause,
        "detail": record.detail,
        "source": record.source.name.lower(),
        "parent": redact(parent.url) if parent else None,
        "depth": record.depth,
        "priority": record.priority,
        "attempts": record.attempts,
        "fetches": record.fetches,
        "redirects": record.redirects,
        "status": record.status,
        "lease_owner": record.lease_owner,
        **moments,
    }


@contextmanager
def _pages(installation: Installation) -> Iterator[PageStore]:
    pages = installation.prepare().open_pages()
    try:
        yield pages
    finally:
        pages.close()


def cached(
    installation: Installation, digest: bytes, rules: DomainRules | None, now: float
) -> dict[str, Any] | None:
    """The stored body with its validators and freshness, and the quarantined one if there is any."""
    from resources.pages.base import Kind

    with _pages(installation) as pages:
        head = pages.head(digest)
        aside = pages.head(digest, Kind.QUARANTINE)
        versions = len(pages.history(digest)) if head is not None else 0
    if head is None and aside is None:
        return None
    shown = head or aside
    assert shown is not None
    lifetime, by, fresh = _freshness(shown, rules, now)
    return {
        "stored": head is not None,
        "status": shown.status,
        "body_bytes": shown.body_bytes,
        "content_type": _header(shown, "content-type"),
        "encoding": shown.encoding,
        "encoding_source": shown.encoding_source,
        "content_hash": shown.content_hash.hex(),
        "fetched_at": instant(shown.fetched_at),
        "changed_at": instant(shown.changed_at),
        "validated_at": instant(shown.validated_at),
        "versions": versions,
        "validators": {n: v for n in ("ETag", "Last-Modified") if (v := _header(shown, n.lower()))},
        "lifetime_s": lifetime,
        "lifetime_by": by,
        "fresh": fresh,
        "quarantine": None
        if aside is None
        else {"verdict": aside.verdict, "note": aside.note, "fetched_at": instant(aside.fetched_at)},
    }


def _header(head: PageHead, name: str) -> str | None:
    return next((value for key, value in head.headers if key.lower() == name), None)


def _freshness(head: PageHead, rules: DomainRules | None, now: float) -> tuple[float, str, bool]:
    """(lifetime in seconds, what decided it, fresh now)."""
    from resources.crawler import freshness

    if rules is None:
        return 0.0, "no site file", False
    ttl = freshness.site_ttl(rules.site, head)
    due = freshness.due_at(rules.site, head, head.validated_at)
    by = "the site file's cache rules" if ttl is not None else "the response (RFC 9111)"
    return due - head.validated_at, by, due > now


def robots(installation: Installation, url: str, rules: DomainRules | None) -> dict[str, Any] | None:
    """What the stored robots.txt says of the URL, and by which line."""
    from resources.pages.base import Kind
    from resources.web.robots import Copy, parse, robots_url
    from resources.web.urls import key

    address = robots_url(url)
    if address is None or rules is None:
        return None
    with _pages(installation) as pages:
        head = pages.head(key(address), Kind.ROBOTS)
        body = pages.body(head) if head is not None else b""
    if head is None:
        return None
    copy = Copy(body=body, **json.loads(head.note or "{}"))
    if not copy.file:
        words = (
            f"status {copy.status}: everything is allowed"
            if copy.good
            else "was never available: nothing is fetched"
        )
        return {"url": address, "allowed": copy.good, "line": None, "rule": None, "words": words}
    decision = parse(body).rules_for(rules.token).decide(url)
    verb = "allowed" if decision.allowed else "disallowed"
    by = (
        f"line {decision.line}: {decision.rule}"
        if decision.line
        else f"no rule for {rules.token} speaks of it"
    )
    obeyed = "" if rules.site.robots == "obey" else " (the site file ignores robots.txt)"
    return {
        "url": address,
        "allowed": decision.allowed,
        "line": decision.line,
        "rule": decision.rule,
        "words": f"{verb} by {by}, as of {instant(head.validated_at)}{obeyed}",
    }


def fetches(installation: Installation, url: str, domain: str) -> list[dict[str, Any]]:
    """Attempts, oldest first: those in the published fetch log, then those of the running night."""
    names = (
        "started_at",
        "attempt",
        "outcome",
        "status",
        "duration_ms",
        "cause",
        "error",
        "rule",
        "run_id",
        "redirect_to",
    )
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for row in _query(
        installation, "fetch_log", "select * from fetch_log where url = ? order by started_at", url
    ):
        entry = {name: row.get(name) for name in names} | {"started_at": str(row["started_at"])[:19]}
        entry["started_at"] = f"{entry['started_at']}Z"
        found[str(entry["started_at"]), str(entry["run_id"]), int(entry["attempt"] or 0)] = entry
    frontier = installation.open_frontier()
    try:
        after, read = 0, 0
        while read < LOG_ROWS and (chunk := frontier.read_log(after, _CHUNK, domain)):
            after, read = chunk[-1][0], read + len(chunk)
            for _, log in chunk:
                if log.url == url:
                    entry = {name: getattr(log, name) for name in names} | {
                        "started_at": instant(log.started_at)
                    }
                    found[str(entry["started_at"]), log.run_id, log.attempt] = entry
    finally:
        frontier.close()
    for entry in found.values():
        for name in ("cause", "error", "rule", "redirect_to"):
            entry[name] = entry[name] or ""
        entry["duration_ms"] = float(entry["duration_ms"] or 0.0)
    return sorted(found.values(), key=lambda entry: str(entry["started_at"]))


def rows(installation: Installation, url: str) -> dict[str, Any]:
    """Who links to the URL, and which published rows came of it."""
    links = _query(
        installation,
        "links",
        "select distinct from_url, anchor from links where to_url = ? order by 1 limit 100",
        url,
    )
    counted = _query(
        installation, "links", "select count(distinct from_url) as n from links where to_url = ?", url
    )
    rejected = _query(
        installation,
        "rejected_items",
        "select item_type, reason, detail from rejected_items where url = ? limit 100",
        url,
    )
    return {
        "linked_from": links,
        "linked_from_count": counted[0]["n"] if counted else 0,
        "rows": _row_counts(installation, url),
        "rejected": rejected,
    }


def _query(installation: Installation, table: str, sql: str, url: str) -> list[dict[str, Any]]:
    """Rows as dictionaries; none where nothing, or no such table, is published."""
    from resources.warehouse.read import published, published_path

    if published_path(installation) is None:
        return []

    with published(installation) as connection:
        there = connection.execute(
            "select 1 from duckdb_tables() where database_name = 'published' and table_name = ?", [table]
        ).fetchone()
        if there is None:
            return []
        cursor = connection.execute(sql, [url])
        columns = [column[0] for column in cursor.description or []]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def _row_counts(installation: Installation, url: str) -> dict[str, int]:
    """Rows of the URL in every published table that has a `url`, besides the fetch log."""
    from resources.warehouse.read import published, published_path
    from resources.warehouse.statements import identifier

    if published_path(installation) is None:
        return {}
    found: dict[str, int] = {}
    with published(installation) as connection:
        tables = connection.execute(
            "select distinct table_name from duckdb_columns() where database_name = 'published' "
            "and column_name = 'url' and table_name <> 'fetch_log' order by 1"
        ).fetchall()
        for (name,) in tables:
            row = connection.execute(
                f"select count(*) from {identifier(name)} where url = ?", [url]
            ).fetchone()
            if row and row[0]:
                found[name] = int(row[0])
    return found
