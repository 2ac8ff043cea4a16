"""Moving between back-ends: everything arrives, a crash is gone on from, a difference is told."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from resources.frontier.base import Ack, Frontier, FrontierError, Verdict, WorkerBeat
from resources.frontier.memory import MemoryFrontier
from resources.frontier.move import digest, move
from tests.frontier.backends import BACKENDS, Backend
from tests.frontier.samples import NEWS, SHOP, done, log_row, url

PAIRS = [(a, b) for a, b in permutations(BACKENDS, 2) if "memory" not in (a.name, b.name)]


def filled(frontier: Frontier) -> Frontier:
    """URLs in every state, some with everything that can be said of them."""
    frontier.enqueue([url(str(number), depth=number % 5, priority=number % 3) for number in range(300)], 1.0)
    frontier.enqueue([url("x", NEWS, excluded="scope: /x", lastmod=5.0, parent=url("1").key)], 1.5)
    claims = frontier.claim(SHOP, 40, "w", 60, 2.0)
    verdicts = (Verdict.DONE, Verdict.FAILED, Verdict.RETRY, Verdict.EXCLUDED)
    frontier.commit(
        [
            Ack(
                claim, verdicts[number % 4], 3.0, due_at=9.5, not_before=50.25, next_eligible_at=70.0,
                cause="timeout", detail="é" * 20, status=500, content_hash=b"h" * 16,
            )
            for number, claim in enumerate(claims[:36])
        ],
        3.0,
    )  # fmt: skip
    frontier.set_value("cursor", "7")
    return frontier


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda backend: backend.name)
def test_everything_arrives_on_the_other_side(one: Backend, other: Backend, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    source, target = filled(one.fresh(tmp_path / "a")), other.fresh(tmp_path / "b")
    report = move(source, target, 4.0, values=["cursor", "unknown"])
    assert [(each.domain, each.rows) for each in report.domains] == [(NEWS, 1), (SHOP, 300)]
    for domain in (SHOP, NEWS):
        assert list(source.records(domain)) == list(target.records(domain))
        assert source.counts(domain) == target.counts(domain) == target.recount(domain)
    assert target.get_value("cursor") == "7"
    # And the crawl goes on there as it would have here.
    assert target.reap(100.0) == 4 == source.reap(100.0)
    ours, theirs = (
        {claim.url for claim in each.claim(SHOP, 400, "w", 60, 100.0)} for each in (source, target)
    )
    assert ours == theirs
    source.close()
    target.close()


def test_a_move_that_was_cut_short_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.frontier.move.BATCH", 50)
    source, target = filled(MemoryFrontier()), MemoryFrontier()
    put = target.put_records
    calls: list[int] = []

    def dies(records: Any) -> int:
        calls.append(len(records))
        if len(calls) == 4:
            raise FrontierError("the line was cut")
        return put(records)

    monkeypatch.setattr(target, "put_records", dies)
    with pytest.raises(FrontierError, match="cut"):
        move(source, target, 4.0)
    calls.clear()
    calls += [0] * 10
    report = move(source, target, 4.0)
    assert {each.domain: each.written for each in report.domains} == {NEWS: 0, SHOP: 200}
    assert report.rows == 301


def test_what_differs_afterwards_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = filled(MemoryFrontier()), MemoryFrontier()
    put = target.put_records
    monkeypatch.setattr(target, "put_records", lambda records: put(records[:-1]))
    with pytest.raises(FrontierError, match="1 rows here and 0 there"):
        move(source, target, 4.0)
    monkeypatch.undo()
    assert move(source, target, 4.0).rows == 301


def test_running_workers_and_unread_logs_are_not_left_behind() -> None:
    source = filled(MemoryFrontier())
    (claim,) = source.claim(SHOP, 1, "w", 60, 4.0)
    source.commit([done(claim, 5.0, log=log_row("a"))], 5.0)
    with pytest.raises(FrontierError, match="fetch log"):
        move(source, MemoryFrontier(), 6.0)
    assert move(source, MemoryFrontier(), 6.0, without_log=True).rows == 301
    source.beat(WorkerBeat("w9", "h", 1, 0.0, 5.0))
    with pytest.raises(FrontierError, match=r"w9.*stop them"):
        move(source, MemoryFrontier(), 6.0, without_log=True)


def test_a_digest_depends_on_every_field_and_not_on_the_order() -> None:
    rows = list(filled(MemoryFrontier()).records(SHOP))
    assert digest(rows) == digest(reversed(rows))
    assert digest(rows)[1] != digest(rows[1:])[1]
    before = digest(rows)
    rows[0].attempts += 1
    assert digest(rows) != before
