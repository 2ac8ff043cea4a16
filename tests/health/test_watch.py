"""The watch over a real log: windows across runs, orders that a running pacer obeys, state that survives."""

from __future__ import annotations

import pytest

from resources.clock import VirtualClock
from resources.frontier.base import Ack, Discovery, FetchLogRow, Verdict
from resources.frontier.memory import MemoryFrontier
from resources.health.rolling import RollingHealth
from resources.health.watch import TrendWatch
from resources.health.windows import LONGEST_S, WindowMaker
from resources.pacing.base import PaceLimits, ReasonName
from resources.pacing.ledger.memory import MemoryLedger
from resources.pacing.pacer import Pacer
from resources.web.urls import key
from tests.health.nights import DOMAIN, Answers, log_rows

GOOD: Answers = (60, 0, 0)


def write(frontier: MemoryFrontier, rows: list[FetchLogRow]) -> None:
    for row in rows:
        frontier.enqueue([Discovery(key(row.url), row.url, row.domain)], row.started_at)
        (claim,) = frontier.claim(row.domain, 1, "w", 60, row.started_at)
        frontier.commit([Ack(claim, Verdict.DONE, row.started_at, log=row)], row.started_at)


def test_a_climb_over_two_runs_slows_the_running_crawl() -> None:
    frontier, ledger, clock = MemoryFrontier(), MemoryLedger(), VirtualClock(0.0)
    first = list(log_rows([GOOD, GOOD, GOOD, (60, 1, 0)], run_id="one"))
    second = list(log_rows([(60, 3, 0), (60, 6, 0)], start=7_200.0, run_id="two"))
    write(frontier, first)
    assert not TrendWatch(frontier, ledger).look(300.0)
    pacer = Pacer(clock, ledger)
    pacer.admit(DOMAIN, PaceLimits(rate=10.0))
    write(frontier, second)
    done = TrendWatch(frontier, ledger).look(7_330.0)
    assert [(domain, action.kind) for domain, action in done] == [(DOMAIN, "ease")]
    pacer.want(DOMAIN, 5)
    pacer.checkpoint(clock.now())
    assert pacer.decide(DOMAIN, clock.now()).rate == pytest.approx(7.0)
    pacer.take(clock.now())
    assert ReasonName.SLOWED_DOWN in {r.name for r in pacer.decide(DOMAIN, clock.now()).reasons}


def test_a_crawl_that_starts_later_begins_with_what_was_ordered() -> None:
    frontier, ledger = MemoryFrontier(), MemoryLedger()
    write(frontier, list(log_rows([GOOD, (60, 20, 0), (60, 20, 0), GOOD])))
    done = TrendWatch(frontier, ledger).look(400.0)
    assert [action.kind for _, action in done] == ["cool_down", "ask_canary"]
    clock = VirtualClock(20 * 3_600.0)
    pacer = Pacer(clock, ledger)
    pacer.admit(DOMAIN, PaceLimits(rate=10.0))
    pacer.want(DOMAIN, 1)
    pacer.take(clock.now())
    assert pacer.decide(DOMAIN, clock.now()).rate == pytest.approx(2.5)


def test_a_banned_domain_is_paused_and_comes_back() -> None:
    frontier, ledger, clock = MemoryFrontier(), MemoryLedger(), VirtualClock(0.0)
    pacer = Pacer(clock, ledger)
    pacer.admit(DOMAIN, PaceLimits(rate=10.0))
    write(frontier, list(log_rows([GOOD, (60, 0, 58), (60, 0, 60), GOOD])))
    TrendWatch(frontier, ledger).look(400.0)
    pacer.checkpoint(1.0)
    assert pacer.snapshot(DOMAIN).paused_cause
    done = TrendWatch(frontier, ledger).look(400.0 + 1_801.0)
    assert [action.kind for _, action in done] == ["resume", "ease"]
    pacer.checkpoint(2.0)
    assert not pacer.snapshot(DOMAIN).paused_cause


def test_rows_are_judged_once_however_often_one_looks() -> None:
    frontier, ledger = MemoryFrontier(), MemoryLedger()
    write(frontier, list(log_rows([GOOD, (60, 20, 0), (60, 20, 0), GOOD])))
    assert TrendWatch(frontier, ledger).look(400.0)
    assert not TrendWatch(frontier, ledger).look(430.0)
    assert len(ledger.commands()) == 1


def test_a_slow_domain_gets_longer_windows_not_wilder_shares() -> None:
    maker, closed = WindowMaker(), []
    for row in log_rows([(2, 0, 0)] * 30):
        closed += [w for w in [maker.take(row)] if w]
    assert [w.health.requests for w in closed] == [20, 20]
    assert maker.close(maker.open.start + LONGEST_S) is not None  # type: ignore[union-attr]


def test_silent_domains_are_forgotten() -> None:
    frontier, ledger = MemoryFrontier(), MemoryLedger()
    write(frontier, list(log_rows([GOOD] * 3)))
    assert TrendWatch(frontier, ledger).look(200.0) == []
    TrendWatch(frontier, ledger).look(86_400.0)
    assert not TrendWatch(frontier, ledger).states


def test_the_rolling_metrics_count_every_class_by_itself_and_forget() -> None:
    frontier = MemoryFrontier()
    rolling = RollingHealth(frontier, 120.0)
    write(frontier, list(log_rows([(60, 6, 3), (60, 0, 0)])))
    rolling.look(119.0)
    health = rolling.domains[DOMAIN]
    assert (health.requests, health.status_429, health.status_403, health.retries) == (120, 6, 3, 6)
    assert health.share_429 == 6 / 120
    assert health.ban_signals == 3
    assert rolling.overall == health
    assert rolling.rate(DOMAIN) == pytest.approx(120 / 119)
    rolling.look(180.0)
    assert rolling.domains[DOMAIN].status_429 == 0
    rolling.look(500.0)
    assert rolling.domains == {}
