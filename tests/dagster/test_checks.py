"""What each check passes and fails, and in which words."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from crawl_assets.checks.audit import SPECS, audit_findings
from crawl_assets.checks.ban_signals import ban_signals
from crawl_assets.checks.budget import budget
from crawl_assets.checks.canary import canary
from crawl_assets.checks.conservation import conservation
from crawl_assets.checks.coverage import coverage
from crawl_assets.checks.freshness import freshness
from crawl_assets.checks.frontier_novelty import frontier_novelty
from crawl_assets.checks.merged_urls import merged_urls
from crawl_assets.checks.no_duplicate_fetch import no_duplicate_fetch
from crawl_assets.checks.robots_changed import robots_changed
from crawl_assets.checks.truncation import truncation
from crawl_assets.stages.course import CHECKS
from crawl_assets.stages.facts import listed_by_state
from resources.crawler.canaries import CanaryResult
from resources.crawler.merges import MergedPair
from resources.crawler.order import DomainReport
from resources.frontier.base import Ack, Discovery, FetchLogRow, Source, State, StateCounts, Verdict
from resources.installation import Installation
from resources.warehouse.publish.audit import AuditProblem
from resources.web.urls import key


def result(domain: str, problem: str = "", cause: str = "", status: int | None = 200) -> CanaryResult:
    return CanaryResult(f"https://{domain}/", domain, problem, status, 900, 0.2, cause)


def test_every_check_says_what_to_do() -> None:
    for spec in CHECKS:
        assert spec.description
        assert "hen red" in spec.description or "hen it fails" in spec.description


def test_only_what_would_publish_a_lie_blocks() -> None:
    blocking = {spec.name for spec in CHECKS if spec.blocking}
    assert blocking == {"canary", "conservation"} | {spec.name for spec in SPECS}


def test_a_canary_that_fails_alone_is_the_sites_fault() -> None:
    results = {
        "a.example": [result("a.example", "no response: refused", "refused", None)],
        "b.example": [result("b.example")],
    }
    assert canary("a.example", results).words.startswith("them: ")


def test_canaries_that_all_fail_in_the_network_are_our_fault() -> None:
    down = {d: [result(d, "no response: dns", "dns", None)] for d in ("a.example", "b.example", "c.example")}
    assert canary("a.example", down).words.startswith("us: ")


def test_a_wall_is_theirs_even_when_others_are_down() -> None:
    results = {
        "a.example": [result("a.example", "a wall", "wall", 403)],
        "b.example": [result("b.example", "no response: dns", "dns", None)],
    }
    assert canary("a.example", results).words.startswith("them: ")


def test_conservation_wants_equal_counts_and_no_lease() -> None:
    good = StateCounts(pending=1, done=4, failed=1)
    assert conservation(good, good, in_use=False).passed
    assert not conservation(StateCounts(pending=2, done=4), good, in_use=False).passed
    leased = StateCounts(leased=1, done=4)
    assert not conservation(leased, leased, in_use=False).passed
    assert conservation(leased, leased, in_use=True).passed


def test_walls_are_an_error_and_throttling_a_warning() -> None:
    wall = ban_signals(DomainReport("a.example", requests=100, walls=5))
    assert not wall.passed
    assert wall.severity is dg.AssetCheckSeverity.ERROR
    slow = ban_signals(DomainReport("a.example", requests=100, throttled=10))
    assert not slow.passed
    assert slow.severity is dg.AssetCheckSeverity.WARN
    assert ban_signals(DomainReport("a.example", requests=1000, throttled=9, forbidden=3)).passed


def row(url: str, outcome: str = "ok", worker: str = "w") -> FetchLogRow:
    return FetchLogRow(url, "a.example", "r", worker, 1, 0.0, 1.0, 2.0, 200, outcome)


def test_a_page_fetched_twice_is_named() -> None:
    assert no_duplicate_fetch([row("https://a.example/1"), row("https://a.example/2")]).passed
    assert no_duplicate_fetch([row("https://a.example/1", "retry"), row("https://a.example/1")]).passed
    twice = no_duplicate_fetch([row("https://a.example/1"), row("https://a.example/1", worker="v")])
    assert not twice.passed
    assert "https://a.example/1" in str(twice.numbers["urls"])


def test_endless_places_show_as_equal_bodies_or_a_growing_queue() -> None:
    assert frontier_novelty(100, 98, 120, 60, cut_short=False).passed
    assert not frontier_novelty(100, 10, 120, 60, cut_short=False).passed
    assert not frontier_novelty(100, 100, 100, 700, cut_short=True).passed
    assert frontier_novelty(100, 100, 100, 700, cut_short=False).passed


def test_coverage_knows_a_night_that_was_cut_short() -> None:
    half = {State.DONE: 50, State.PENDING: 50}
    assert not coverage(half, 100, 100, 0.9, cut_short=False).passed
    assert coverage(half, 100, 100, 0.9, cut_short=True).passed
    assert not coverage({State.DONE: 100}, 40, 100, 0.9, cut_short=False).passed


def test_coverage_names_the_listings_that_are_missing(tmp_path: Path) -> None:
    urls = [f"https://a.example/{n}" for n in range(6)]
    frontier = Installation.at(tmp_path / "data", tmp_path / "sites").prepare().open_frontier()
    found = [Discovery(key(u), u, "a.example", 0, 10, source=Source.SITEMAP) for u in urls[:5]]
    frontier.enqueue([*found, Discovery(key(urls[5]), urls[5], "a.example", 1, 10)], 1.0)
    claims = {c.url: c for c in frontier.claim("a.example", 10, "w", 60.0, 2.0)}
    frontier.commit(
        [
            Ack(claims[urls[0]], Verdict.DONE, 3.0),
            Ack(claims[urls[1]], Verdict.FAILED, 3.0, cause="http_500"),
            Ack(claims[urls[2]], Verdict.EXCLUDED, 3.0, cause="robots"),
        ],
        3.0,
    )
    frontier.release_worker("w", 4.0)
    counts, missing = listed_by_state(frontier, "a.example")
    frontier.close()
    assert counts == {State.DONE: 1, State.FAILED: 1, State.EXCLUDED: 1, State.PENDING: 2}
    assert [url for url, _ in missing][::3] == [urls[1], urls[2]] and len(missing) == 4
    finding = coverage(counts, 5, None, 0.9, missing=missing, cut_short=False)
    shown = str(finding.as_metadata()["listed and missing"].value)
    assert (
        f"| {urls[1]} | failed: http_500 |" in shown and f"| {urls[3]} | pending: not fetched yet |" in shown
    )
    assert urls[0] not in shown and urls[5] not in shown


def test_a_rule_that_merges_different_pages_is_named_with_a_pair_and_its_cure() -> None:
    shop = "https://a.example/books"
    sid = MergedPair(("urls.drop_parameters: sid",), f"{shop}?sid=1", shop, "same", "0%")
    form = MergedPair(("urls.drop_parameters: form",), f"{shop}?form=2", shop, "different", "80% differ", 0.8)
    assert merged_urls([]).passed
    assert merged_urls([sid]).passed
    found = merged_urls([sid, form])
    assert not found.passed
    assert found.severity is dg.AssetCheckSeverity.WARN
    for piece in ("urls.drop_parameters: form", f"{shop}?form=2 is not {shop}", "take form out of"):
        assert piece in found.words
    assert "sid" not in found.words
    assert found.numbers["different"] == 1


def test_budget_tells_what_is_left() -> None:
    cut = budget(DomainReport("a.example", end="budget", ok=50), 50)
    assert not cut.passed
    assert "50" in cut.words
    assert budget(DomainReport("a.example", end="finished", ok=50), 0).passed


def test_robots_changes_are_shown_as_a_difference() -> None:
    assert robots_changed(None, b"x").passed
    assert robots_changed(b"x", b"x").passed
    changed = robots_changed(b"Disallow: /a", b"Disallow: /b")
    assert "+Disallow: /b" in str(changed.numbers["difference"])


@pytest.mark.parametrize(("truncated", "passed"), [(0, True), (2, True), (30, False)])
def test_truncation(truncated: int, passed: bool) -> None:
    assert truncation(DomainReport("a.example", requests=1000, truncated=truncated)).passed is passed


def test_drift_raises_no_alarm_in_a_night_that_was_cut_short() -> None:
    problems = [
        AuditProblem("row_drop", "pages", "pages has 10 rows"),
        AuditProblem("rejects", "book", "many"),
    ]
    found = audit_findings(problems, {"pages": 10}, cut_short="window")
    assert found["row_drift"].passed
    assert "cut short" in found["row_drift"].words
    assert not found["rejects"].passed
    alarm = audit_findings(problems, {"pages": 10}, causes="40 walls")
    assert not alarm["row_drift"].passed
    assert "40 walls" in alarm["row_drift"].words


def test_freshness_counts_from_the_last_publication() -> None:
    assert freshness(1000.0, 2000.0, 3600.0).passed
    assert not freshness(1000.0, 9000.0, 3600.0).passed
    assert not freshness(None, 9000.0, 3600.0).passed
