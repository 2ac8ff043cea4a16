"""Claims, their leases, and the fence between an old claim and a new one."""

from __future__ import annotations

from dataclasses import replace

from resources.frontier.base import EnqueueResult, Frontier, State, StateCounts
from tests.frontier.samples import NEWS, SHOP, balanced, done, log_row, url


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
