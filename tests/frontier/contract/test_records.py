"""Whole rows: read, written, moved."""

from __future__ import annotations

from dataclasses import replace

from resources.frontier.base import Ack, Frontier, Source, State, StateCounts, Verdict
from tests.frontier.samples import NEWS, SHOP, balanced, done, url


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


def test_records_by_where_they_were_first_met(frontier: Frontier) -> None:
    listed = [url(str(number), source=Source.SITEMAP) for number in range(6)]
    frontier.enqueue([*listed, url("a"), url("b", source=Source.SEED)], 1.0)
    frontier.enqueue([url("0"), url("a", source=Source.SITEMAP)], 2.0)  # where else it is met does not count
    (claim, *_) = frontier.claim(SHOP, 1, "w", 60, 2.0)
    frontier.commit([done(claim, 3.0)], 3.0)
    found = list(frontier.records(SHOP, source=Source.SITEMAP))
    assert [record.key for record in found] == sorted(discovery.key for discovery in listed)
    waiting = list(frontier.records(SHOP, [State.PENDING], source=Source.SITEMAP))
    assert waiting == [record for record in found if record.state is State.PENDING]
    assert [record.url for record in frontier.records(SHOP, source=Source.SEED)] == [url("b").url]


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
