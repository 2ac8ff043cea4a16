"""Moves of many URLs at once: due again, retried, excluded, reconsidered, forgotten."""

from __future__ import annotations

from resources.frontier.base import Ack, EnqueueResult, Frontier, State, StateCounts, Verdict
from tests.frontier.samples import NEWS, SHOP, balanced, done, url


def test_due_again_by_time_or_by_force(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b"), url("c")], 1.0)
    a, b, c = frontier.claim(SHOP, 3, "w", 60, 2.0)
    frontier.commit([done(a, 3.0, due_at=10.0), done(b, 3.0, due_at=20.0), done(c, 3.0)], 3.0)
    assert frontier.due(SHOP, 5_000.0) == 2
    assert frontier.due("unknown.example", 5_000.0) == 0
    assert frontier.requeue_due(SHOP, 9.9) == 0
    assert frontier.requeue_due(SHOP, 10.0) == 1
    assert frontier.requeue_due(SHOP, 10.0, force=True) == 2
    assert frontier.requeue_due("unknown.example", 10.0) == 0
    assert frontier.counts(SHOP) == StateCounts(pending=3)
    balanced(frontier)


def test_retry_failed_takes_what_is_eligible_and_keeps_attempts(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b"), url("c")], 1.0)
    a, b, c = frontier.claim(SHOP, 3, "w", 60, 2.0)
    frontier.commit(
        [
            Ack(a, Verdict.FAILED, 3.0, cause="timeout", next_eligible_at=10.0),
            Ack(b, Verdict.FAILED, 3.0, cause="http_500", next_eligible_at=20.0),
            Ack(c, Verdict.FAILED, 3.0, cause="http_404"),
        ],
        3.0,
    )
    assert frontier.failures(SHOP) == {"timeout": (1, 1), "http_500": (1, 1), "http_404": (1, 0)}
    assert frontier.retry_failed(SHOP, 9.0) == 0
    assert frontier.retry_failed(SHOP, 99.0, causes=["nothing"]) == 0
    assert frontier.retry_failed(SHOP, 99.0, causes=["http_500", "http_404"]) == 1
    (again,) = frontier.claim(SHOP, 9, "w", 60, 99.0)
    assert (again.key, again.attempts) == (b.key, 1)
    assert frontier.retry_failed(SHOP, 99.0, causes=[], force=True) == 0
    assert frontier.retry_failed(SHOP, 99.0, causes=["http_404"], force=True) == 1
    assert frontier.retry_failed(SHOP, 99.0, force=True) == 1
    assert frontier.failures(SHOP) == {} == frontier.failures("unknown.example")
    balanced(frontier)


def test_excluded_urls_can_be_reconsidered_by_reason(frontier: Frontier) -> None:
    frontier.enqueue([url("a", excluded="scope"), url("b", excluded="trap"), url("c")], 1.0)
    assert frontier.reconsider_excluded(SHOP, [], 2.0) == 0
    assert frontier.reconsider_excluded(SHOP, ["scope", "robots"], 2.0) == 1
    record = frontier.get(url("a").key)
    assert record is not None and (record.state, record.cause) == (State.PENDING, "")
    balanced(frontier)


def test_exclude_pending_touches_pending_urls_only(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b"), url("c")], 1.0)
    frontier.claim(SHOP, 1, "w", 60, 2.0)
    keys = [url(name).key for name in ("a", "b", "unknown")]
    assert frontier.exclude_pending(keys, "trap", "calendar", 3.0) == 1
    record = frontier.get(url("b").key)
    assert record is not None
    assert (record.state, record.cause, record.detail) == (State.EXCLUDED, "trap", "calendar")
    assert frontier.counts(SHOP) == StateCounts(pending=1, leased=1, excluded=1)
    balanced(frontier)


def test_reset_forgets_one_domain_and_nothing_else(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b"), url("c", excluded="scope"), url("n", NEWS)], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    assert frontier.reset(SHOP) == 3
    assert frontier.reset(SHOP) == 0 == frontier.reset("unknown.example")
    assert frontier.commit([done(claim, 3.0)], 3.0).stale == 1
    assert frontier.counts(SHOP) == StateCounts()
    assert frontier.all_counts() == {NEWS: StateCounts(pending=1)}
    assert frontier.known([claim.key, url("n", NEWS).key]) == {url("n", NEWS).key}
    assert frontier.enqueue([url("a")], 4.0) == EnqueueResult(new=1)
    balanced(frontier)
