"""What each verdict does to a URL, and what goes in with it."""

from __future__ import annotations

from resources.frontier.base import Ack, EnqueueResult, Frontier, State, Verdict
from tests.frontier.samples import NEWS, SHOP, balanced, done, url


def test_done_keeps_what_the_fetch_learned(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    result = frontier.commit([done(claim, 3.0, due_at=9.0, status=200, content_hash=b"h" * 16)], 3.0)
    assert (result.acked, result.stale) == (1, 0)
    record = frontier.get(claim.key)
    assert record is not None
    assert (record.state, record.done_at, record.due_at, record.status) == (State.DONE, 3.0, 9.0, 200)
    assert (record.fetches, record.attempts, record.content_hash) == (1, 1, b"h" * 16)
    assert (record.lease_owner, record.lease_until) == ("", None)


def test_a_second_success_without_a_new_body_keeps_the_hash(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    frontier.commit([done(claim, 3.0, due_at=4.0, content_hash=b"h" * 16)], 3.0)
    frontier.requeue_due(SHOP, 5.0)
    (again,) = frontier.claim(SHOP, 1, "w", 60, 5.0)
    assert (again.done_at, again.attempts) == (3.0, 0)
    frontier.commit([done(again, 6.0, status=304)], 6.0)
    record = frontier.get(claim.key)
    assert record is not None
    assert (record.fetches, record.done_at, record.content_hash, record.status) == (2, 6.0, b"h" * 16, 304)


def test_a_retry_waits_until_not_before_and_counts(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    frontier.commit([Ack(claim, Verdict.RETRY, 3.0, not_before=50.0, cause="timeout", status=None)], 3.0)
    assert frontier.next_ready_at(SHOP, 4.0) == 50.0
    assert frontier.claim(SHOP, 1, "w", 60, 49.9) == []
    assert frontier.next_ready_at(SHOP, 50.0) == 50.0
    (again,) = frontier.claim(SHOP, 1, "w", 60, 50.0)
    assert again.attempts == 1
    balanced(frontier)


def test_a_retry_whose_time_has_come_is_claimable_at_once(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    frontier.commit([Ack(claim, Verdict.RETRY, 3.0, not_before=2.5)], 3.0)
    assert frontier.next_ready_at(SHOP, 3.0) == 3.0
    assert len(frontier.claim(SHOP, 1, "w", 60, 3.0)) == 1


def test_a_429_does_not_burn_an_attempt(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    frontier.commit([Ack(claim, Verdict.RETRY, 3.0, counts_attempt=False, status=429)], 3.0)
    (again,) = frontier.claim(SHOP, 1, "w", 60, 4.0)
    assert again.attempts == 0


def test_released_is_as_if_never_claimed(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    before = frontier.get(url("a").key)
    (claim,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    frontier.commit([Ack(claim, Verdict.RELEASED, 3.0, cause="shutdown")], 3.0)
    assert frontier.get(claim.key) == before
    balanced(frontier)


def test_failed_is_a_dead_letter_with_its_story(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    ack = Ack(
        claim, Verdict.FAILED, 3.0, cause="http_500", detail="HTTP 500", status=500, next_eligible_at=99.0
    )
    frontier.commit([ack], 3.0)
    record = frontier.get(claim.key)
    assert record is not None
    assert (record.state, record.cause, record.detail, record.status) == (
        State.FAILED,
        "http_500",
        "HTTP 500",
        500,
    )
    assert (record.failed_at, record.next_eligible_at, record.attempts) == (3.0, 99.0, 1)
    assert frontier.next_ready_at(SHOP, 4.0) is None


def test_excluded_after_a_claim_keeps_reason_and_rule(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    frontier.commit([Ack(claim, Verdict.EXCLUDED, 3.0, cause="robots", detail="Disallow: /a")], 3.0)
    record = frontier.get(claim.key)
    assert record is not None
    assert (record.state, record.cause, record.detail) == (State.EXCLUDED, "robots", "Disallow: /a")
    assert (record.attempts, record.fetches) == (0, 0)


def test_commit_enqueues_outlinks_and_says_who_got_work(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b")], 1.0)
    a, b = frontier.claim(SHOP, 2, "w", 60, 2.0)
    acks = [
        done(a, 3.0, outlinks=[url("b"), url("c"), url("x", NEWS), url("t", excluded="trap")]),
        done(b, 3.0, outlinks=[url("c"), url("a")]),
    ]
    result = frontier.commit(acks, 3.0)
    assert result.enqueued == EnqueueResult(new=2, known=3, excluded=1)
    assert result.new_by_domain == {SHOP: 1, NEWS: 1}
    balanced(frontier)
