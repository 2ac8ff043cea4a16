"""The metadata of crawled domains: numbers an operator wants to plot, of the same type every night."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import dagster as dg

from resources.crawler.taxonomy import failure_kind
from resources.crawler.traps.trust import advice
from resources.frontier.base import StateCounts

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.order import DomainReport
    from resources.crawler.seeding import SeedReport

__all__ = ["crawl_numbers", "progress_numbers", "seed_numbers", "state_numbers"]

#: Events and problems shown: a page of the UI, not a log file.
SHOWN = 50


def state_numbers(counts: StateCounts) -> dict[str, int]:
    """The domain's URLs by state; they add up to `urls discovered`."""
    return {
        "urls discovered": counts.discovered,
        "urls pending": counts.pending,
        "urls leased": counts.leased,
        "urls done": counts.done,
        "urls failed": counts.failed,
        "urls excluded": counts.excluded,
    }


def seed_numbers(report: SeedReport, counts: StateCounts, seconds: float) -> dict[str, Any]:
    """Metadata of a seeded domain."""
    numbers: dict[str, Any] = {
        "new urls": report.new,
        "due again": report.due_again,
        "seeds": report.seeds,
        "sitemaps": report.sitemaps,
        "sitemap urls": report.sitemap_urls,
        "excluded": report.excluded,
        "requests": report.requests,
        "duration s": round(seconds, 3),
        "robots": report.robots or "not asked",
        "crawl delay s": float(report.crawl_delay or 0.0),
        **state_numbers(counts),
    }
    if report.problems:
        numbers["problems"] = dg.MetadataValue.md("\n".join(f"- {p}" for p in report.problems[:SHOWN]))
    return numbers


def crawl_numbers(
    report: DomainReport, counts: StateCounts, next_due_at: float | None = None
) -> dict[str, Any]:
    """Metadata of a crawled domain."""
    asked = max(report.requests, 1)
    numbers: dict[str, Any] = {
        "pages": report.pages,
        "fetched": report.ok,
        "not modified": report.not_modified,
        "changed": report.changed,
        "new urls": report.new_urls,
        "requests": report.requests,
        "redirects": report.redirects,
        "retries": report.retries,
        "failed": report.failed,
        "excluded": report.excluded,
        "walls": report.walls,
        "truncated": report.truncated,
        "timeouts": report.timeouts,
        "server errors": report.server_errors,
        "pages per s": round(report.pages / report.seconds, 3) if report.seconds > 0 else 0.0,
        "wire bytes": report.wire_bytes,
        "body bytes": report.body_bytes,
        "hit rate": round(report.not_modified / max(report.pages, 1), 4),
        "429 share": round(report.statuses.get(429, 0) / asked, 4),
        "429s": report.statuses.get(429, 0),
        "403s": report.forbidden,
        "retry share": round(report.retries / asked, 4),
        "ban signals": report.walls + report.forbidden,
        "urls in traps": sum(report.trapped.values()),
        "mean ttfb ms": round(report.ttfb_sum_s / asked * 1000, 1),
        "duration s": round(report.seconds, 3),
        "end": report.end,
        "end in words": report.detail or "nothing claimable is left tonight",
        **state_numbers(counts),
    }
    if report.rate is not None and report.rate < float("inf"):
        numbers["rate per s"] = float(report.rate)
    if report.rate_reason:
        numbers["rate reason"] = report.rate_reason
    if report.statuses:
        numbers["statuses"] = dg.MetadataValue.md(_table("status", report.statuses))
    if report.causes:
        lines = ["| cause | urls | what mends it |", "| --- | --- | --- |"]
        for cause, n in sorted(report.causes.items(), key=lambda item: -item[1])[:SHOWN]:
            lines.append(f"| {cause} | {n} | {failure_kind(cause).mend} |")
        numbers["causes of failure"] = dg.MetadataValue.md("\n".join(lines))
    if report.trapped:
        lines = ["| trap | urls refused | if they are real |", "| --- | --- | --- |"]
        for reason, n in sorted(report.trapped.items(), key=lambda item: -item[1])[:SHOWN]:
            lines.append(f"| {reason} | {n} | {advice(reason)} |")
        numbers["traps"] = dg.MetadataValue.md("\n".join(lines))
    if report.events:
        numbers["pacing events"] = dg.MetadataValue.md("\n".join(f"- {e}" for e in report.events[-SHOWN:]))
    if next_due_at is not None:
        numbers["next due"] = dg.MetadataValue.timestamp(next_due_at)
    return numbers


def progress_numbers(report: DomainReport, queue: int) -> dict[str, Any]:
    """What a running fetch shows of itself."""
    return {
        "pages so far": report.pages,
        "requests so far": report.requests,
        "failed so far": report.failed,
        "429s so far": report.throttled,
        "queue": queue,
    }


def _table(head: str, counts: Mapping[Any, int]) -> str:
    lines = [f"| {head} | requests |", "| --- | --- |"]
    return "\n".join(lines + [f"| {k} | {n} |" for k, n in sorted(counts.items(), key=lambda i: str(i[0]))])
