"""The fetch log, leases on domains, signs of life, named values, counts of many domains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resources.frontier.base import Frontier, StateCounts, WorkerBeat
from tests.frontier.samples import NEWS, SHOP, done, log_row, url


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
