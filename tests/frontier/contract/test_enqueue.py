"""What an enqueue makes of new, known, repeated and excluded URLs."""

from __future__ import annotations

from resources.frontier.base import Ack, EnqueueResult, Frontier, Source, State, StateCounts, Verdict
from tests.frontier.samples import SHOP, balanced, done, key, url


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
