"""What every back-end does, one behaviour a test. Times are small numbers: nothing here reads a clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resources.frontier.base import Ack, EnqueueResult, Frontier, Source, State, StateCounts, Verdict
from tests.frontier.samples import NEWS, SHOP, done, key, log_row, url


def balanced(frontier: Frontier, *domains: str) -> None:
    for domain in domains or (SHOP, NEWS):
        assert frontier.counts(domain) == frontier.recount(domain)


# -- enqueue -----------------------------------------------------------------------------------------
def test_a_new_url_is_pending_with_what_was_said_about_it(frontier: Frontier) -> None:
    parent = key("https://shop.example/")
    discovery = url("a", depth=2, priority=7, source=Source.SITEMAP, parent=parent, redirects=1, lastmod=3.0)
    assert frontier.enqueue([discovery], 10.0) == EnqueueResult(new=1)
    record = frontier.get(discovery.key)
    assert record is not None
    assert (record.url, record.domain, record.state) == (discovery.url, SHOP, State.PENDING)
    assert (record.depth, record.priority, record.source, record.parent) == (2, 7, Source.SITEMAP, parent)
    assert (record.redirects, record.lastmod, record.discovered_at, record.attempts) == (1, 3.0, 10.0, 0)
    assert frontier.counts(SHOP) == StateCounts(pending=1)


def test_a_second_enqueue_changes_nothing(frontier: Frontier) -> None:
    frontier.enqueue([url("a", priority=5)], 1.0)
    before = frontier.get(url("a").key)
    assert frontier.enqueue([url("a", priority=1, depth=9), url("a")], 2.0) == EnqueueResult(known=2)
    assert frontier.get(url("a").key) == before


def test_a_batch_may_hold_a_key_twice_and_the_first_wins(frontier: Frontier) -> None:
    assert frontier.enqueue([url("a", depth=1), url("b"), url("a", depth=2)], 1.0) == EnqueueResult(
        new=2, known=1
    )
    record = frontier.get(url("a").key)
    assert record is not None and record.depth == 1


def test_an_excluded_discovery_is_recorded_with_its_reason(frontier: Frontier) -> None:
    assert frontier.enqueue([url("a", excluded="scope"), url("b")], 1.0) == EnqueueResult(new=1, excluded=1)
    record = frontier.get(url("a").key)
    assert record is not None and (record.state, record.cause) == (State.EXCLUDED, "scope")
    assert [claim.url for claim in frontier.claim(SHOP, 9, "w", 60, 1.0)] == [url("b").url]


def test_an_empty_batch_is_fine(frontier: Frontier) -> None:
    assert frontier.enqueue([], 1.0) == EnqueueResult()
    assert frontier.commit([], 1.0).acked == 0
    assert frontier.known([]) == set()
    assert frontier.put_records([]) == 0


def test_a_newer_lastmod_makes_a_done_url_due_again_once(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b")], 1.0)
    a, b = frontier.claim(SHOP, 2, "w", 60, 2.0)
    frontier.commit([done(a, 10.0), Ack(b, Verdict.FAILED, 10.0, cause="http_404")], 10.0)
    assert frontier.enqueue([url("a", lastmod=9.0)], 11.0) == EnqueueResult(known=1)
    both = [url("a", lastmod=12.0), url("b", lastmod=12.0), url("c", lastmod=12.0), url("a", lastmod=12.0)]
    assert frontier.enqueue(both, 13.0) == EnqueueResult(new=1, known=2, due_again=1)
    record = frontier.get(a.key)
    assert record is not None and (record.state, record.attempts, record.lastmod) == (State.PENDING, 0, 12.0)
    assert frontier.enqueue([url("a", lastmod=12.0)], 14.0) == EnqueueResult(known=1)
    balanced(frontier)


# -- claim -------------------------------------------------------------------------------------------
def test_claims_go_by_priority_and_then_by_age(frontier: Frontier) -> None:
    frontier.enqueue([url("old", priority=5), url("last", priority=9), url("first", priority=1)], 1.0)
    frontier.enqueue([url("new", priority=5)], 2.0)
    names = [claim.url.rpartition("/")[2] for claim in frontier.claim(SHOP, 9, "w", 60, 3.0)]
    assert names == ["first", "old", "new", "last"]


def test_a_claim_takes_only_its_domain_and_only_as_many_as_asked_for(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b"), url("c"), url("n", NEWS)], 1.0)
    assert len(frontier.claim(SHOP, 2, "w", 60, 2.0)) == 2
    assert frontier.claim(SHOP, 0, "w", 60, 2.0) == []
    assert frontier.claim("unknown.example", 9, "w", 60, 2.0) == []
    assert frontier.counts(SHOP) == StateCounts(pending=1, leased=2)
    assert frontier.counts(NEWS) == StateCounts(pending=1)


def test_a_leased_url_is_nobody_elses(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 9, "w1", 60, 2.0)
    assert claim.lease_until == 62.0
    assert frontier.claim(SHOP, 9, "w2", 60, 3.0) == []
    record = frontier.get(claim.key)
    assert record is not None
    assert (record.state, record.lease_owner, record.lease_until) == (State.LEASED, "w1", 62.0)


# -- commit ------------------------------------------------------------------------------------------
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


# -- fencing and leases ------------------------------------------------------------------------------
def test_an_ack_after_the_lease_passed_on_changes_nothing(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (old,) = frontier.claim(SHOP, 1, "w1", 10, 2.0)
    assert frontier.reap(12.0) == 1
    (new,) = frontier.claim(SHOP, 1, "w2", 10, 13.0)
    assert new.token != old.token
    late = replace(done(old, 14.0), outlinks=[url("z")], log=log_row("a"))
    result = frontier.commit([late], 14.0)
    assert (result.acked, result.stale, result.enqueued) == (0, 1, EnqueueResult())
    record = frontier.get(old.key)
    assert record is not None and (record.state, record.lease_owner) == (State.LEASED, "w2")
    assert frontier.known([url("z").key]) == set()
    assert frontier.read_log(0, 9) == []
    assert frontier.commit([done(new, 15.0)], 15.0).acked == 1


def test_an_ack_counts_once(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 10, 2.0)
    result = frontier.commit([done(claim, 3.0), done(claim, 3.0)], 3.0)
    assert (result.acked, result.stale) == (1, 1)
    assert frontier.commit([done(claim, 4.0)], 4.0).stale == 1
    balanced(frontier)


def test_an_expired_lease_that_nobody_took_may_still_be_acked(frontier: Frontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 10, 2.0)
    assert frontier.commit([done(claim, 500.0)], 500.0).acked == 1


def test_reap_takes_expired_leases_only_and_of_one_domain_if_asked(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b"), url("n", NEWS)], 1.0)
    frontier.claim(SHOP, 1, "w", 10, 2.0)
    frontier.claim(NEWS, 1, "w", 10, 2.0)
    frontier.claim(SHOP, 1, "w", 100, 2.0)
    assert frontier.reap(11.9) == 0
    assert frontier.reap(12.0, NEWS) == 1
    assert frontier.reap(12.0, "unknown.example") == 0
    assert frontier.reap(12.0) == 1
    assert frontier.counts(SHOP) == StateCounts(pending=1, leased=1)
    balanced(frontier)


def test_extend_prolongs_all_leases_of_a_worker(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b"), url("n", NEWS)], 1.0)
    frontier.claim(SHOP, 2, "w1", 10, 2.0)
    frontier.claim(NEWS, 1, "w2", 10, 2.0)
    assert frontier.extend("w1", 10, 11.0) == 2
    assert frontier.extend("nobody", 10, 11.0) == 0
    assert frontier.reap(13.0) == 1
    assert frontier.counts(SHOP).leased == 2


def test_release_worker_hands_everything_back(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b"), url("c")], 1.0)
    first = frontier.claim(SHOP, 2, "w1", 10, 2.0)
    frontier.claim(SHOP, 1, "w2", 10, 2.0)
    assert frontier.release_worker("w1", 3.0) == 2
    assert frontier.counts(SHOP) == StateCounts(pending=2, leased=1)
    assert frontier.commit([done(claim, 4.0) for claim in first], 4.0).stale == 2
    assert [claim.url for claim in frontier.claim(SHOP, 9, "w3", 10, 5.0)] == [url("a").url, url("b").url]


# -- moves of many -----------------------------------------------------------------------------------
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


# -- reading -----------------------------------------------------------------------------------------
def test_records_come_in_key_order_and_by_state(frontier: Frontier) -> None:
    frontier.enqueue([url(str(number)) for number in range(20)] + [url("n", NEWS)], 1.0)
    claims = frontier.claim(SHOP, 6, "w", 60, 2.0)
    frontier.commit([done(claim, 3.0) for claim in claims[:3]], 3.0)
    frontier.commit([Ack(claims[3], Verdict.RETRY, 3.0, not_before=9.0)], 3.0)
    everything = list(frontier.records(SHOP))
    assert [record.key for record in everything] == sorted(url(str(number)).key for number in range(20))
    assert all(record == frontier.get(record.key) for record in everything)
    some = list(frontier.records(SHOP, [State.DONE, State.LEASED]))
    assert [record for record in everything if record.state in (State.DONE, State.LEASED)] == some
    assert len(some) == 5
    assert list(frontier.records(SHOP, [])) == [] == list(frontier.records("unknown.example"))


def test_writing_while_records_are_read_is_fine(frontier: Frontier) -> None:
    frontier.enqueue([url(str(number)) for number in range(20)], 1.0)
    seen = 0
    for _ in frontier.records(SHOP):
        frontier.claim(SHOP, 1, "w", 60, 2.0)
        seen += 1
    assert seen == 20


def test_moved_records_are_the_same_elsewhere(frontier: Frontier) -> None:
    from resources.frontier.memory import MemoryFrontier

    frontier.enqueue([url(str(number)) for number in range(6)] + [url("x", excluded="scope")], 1.0)
    claims = frontier.claim(SHOP, 4, "w", 60, 2.0)
    acks = [
        done(claims[0], 3.0, due_at=8.0, status=200, content_hash=b"h" * 16),
        Ack(claims[1], Verdict.RETRY, 3.0, not_before=9.0, cause="timeout"),
        Ack(claims[2], Verdict.FAILED, 3.0, cause="http_404", next_eligible_at=20.0),
    ]
    frontier.commit(acks, 3.0)
    rows = list(frontier.records(SHOP))
    elsewhere = MemoryFrontier()
    assert elsewhere.put_records(rows) == 7
    assert list(elsewhere.records(SHOP)) == rows
    assert elsewhere.counts(SHOP) == frontier.counts(SHOP)
    # Writing them back overwrites each row by itself: nothing moves, and the old ack is refused.
    assert frontier.put_records(rows) == 7
    assert list(frontier.records(SHOP)) == rows
    assert frontier.commit([done(claims[3], 4.0)], 4.0).stale == 1
    assert frontier.reap(100.0) == 1
    balanced(frontier)


def test_put_records_moves_a_row_between_states(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b")], 1.0)
    record = frontier.get(url("a").key)
    assert record is not None
    changed = replace(record, state=State.FAILED, cause="http_410", failed_at=2.0)
    frontier.put_records([record, changed])
    assert frontier.get(record.key) == changed
    assert frontier.counts(SHOP) == StateCounts(pending=1, failed=1)
    assert [claim.url for claim in frontier.claim(SHOP, 9, "w", 60, 2.0)] == [url("b").url]
    balanced(frontier)


def test_next_ready_at_is_none_when_nothing_waits(frontier: Frontier) -> None:
    assert frontier.next_ready_at(SHOP, 1.0) is None
    frontier.enqueue([url("a")], 1.0)
    assert frontier.next_ready_at(SHOP, 5.0) == 5.0
    frontier.claim(SHOP, 1, "w", 60, 5.0)
    assert frontier.next_ready_at(SHOP, 5.0) is None


# -- log, workers, values ----------------------------------------------------------------------------
def test_the_log_is_read_in_order_and_trimmed(frontier: Frontier) -> None:
    frontier.enqueue([url("a"), url("b"), url("n", NEWS)], 1.0)
    rows = [
        log_row("a", from_cache=True, retry_after_s=1.5),
        log_row("b", status=None, error="reset"),
        log_row("n", NEWS),
    ]
    claims = frontier.claim(SHOP, 2, "w", 60, 2.0) + frontier.claim(NEWS, 1, "w", 60, 2.0)
    for claim, row in zip(claims, rows, strict=True):
        frontier.commit([done(claim, 3.0, log=row)], 3.0)
    numbered = frontier.read_log(0, 10)
    assert [row for _, row in numbered] == rows
    numbers = [number for number, _ in numbered]
    assert numbers == sorted(set(numbers))
    assert frontier.read_log(numbers[0], 1) == [numbered[1]]
    assert frontier.read_log(0, 10, NEWS) == [numbered[2]]
    assert frontier.read_log(0, 10, "unknown.example") == []
    assert frontier.trim_log(numbers[1]) == 2
    assert frontier.read_log(0, 10) == [numbered[2]]
    assert frontier.trim_log(numbers[2]) == 1
    frontier.requeue_due(SHOP, 4.0, force=True)
    (again, _) = frontier.claim(SHOP, 2, "w", 60, 4.0)
    frontier.commit([done(again, 5.0, log=rows[0])], 5.0)
    ((later, _),) = frontier.read_log(0, 10)
    assert later > numbers[2]


def test_a_domain_has_one_holder_and_its_fence_grows(frontier: Frontier) -> None:
    first = frontier.lease_domain(SHOP, "w1", 10, 1.0)
    assert first is not None and first.until == 11.0
    assert frontier.lease_domain(SHOP, "w2", 10, 10.9) is None
    prolonged = frontier.lease_domain(SHOP, "w1", 10, 5.0)
    assert prolonged is not None and (prolonged.fence, prolonged.until) == (first.fence, 15.0)
    assert frontier.domain_lease(SHOP, 14.9) == prolonged
    assert frontier.domain_lease(SHOP, 15.0) is None
    taken = frontier.lease_domain(SHOP, "w2", 10, 15.0)
    assert taken is not None and taken.fence > first.fence
    assert not frontier.unlease_domain(prolonged)
    assert frontier.unlease_domain(taken)
    assert frontier.domain_lease(SHOP, 16.0) is None
    again = frontier.lease_domain(SHOP, "w2", 10, 16.0)
    assert again is not None and again.fence > taken.fence
    assert frontier.lease_domain(NEWS, "w2", 10, 16.0) is not None


def test_a_domain_lease_needs_an_owner(frontier: Frontier) -> None:
    with pytest.raises(ValueError, match="owner"):
        frontier.lease_domain(SHOP, "", 10, 1.0)


def test_workers_are_those_heard_of_lately(frontier: Frontier) -> None:
    from resources.frontier.base import WorkerBeat

    beats = [WorkerBeat("w2", "h", 2, 0.0, 90.0), WorkerBeat("w1", "h", 1, 0.0, 10.0, "fetching", 7, "r1")]
    for beat in beats:
        frontier.beat(beat)
    assert frontier.workers(100.0) == [beats[0]]
    frontier.beat(replace(beats[1], at=100.0))
    assert [beat.worker for beat in frontier.workers(100.0)] == ["w1", "w2"]


def test_named_values(frontier: Frontier) -> None:
    assert frontier.get_value("cursor") is None
    frontier.set_value("cursor", "1")
    frontier.set_value("cursor", "2")
    assert frontier.get_value("cursor") == "2"


def test_all_counts_of_many_domains(frontier: Frontier) -> None:
    frontier.enqueue([url("a", f"d{number}.example") for number in range(5_000)], 1.0)
    counts = frontier.all_counts()
    assert len(counts) == 5_000 and set(map(repr, counts.values())) == {repr(StateCounts(pending=1))}
    some = ["d7.example", "unknown.example"]
    assert frontier.counts_of(some) == {some[0]: StateCounts(pending=1), some[1]: StateCounts()}
    assert frontier.counts_of([]) == {}
