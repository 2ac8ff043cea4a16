"""Turns at the servers that keep one pace: what is given anew after a break, and how lost slots are made up for."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import pytest

from resources.pacing.ledger.base import LedgerError
from resources.pacing.shared.exchange import Ask, Turns
from tests.fleet.servers import PostgresServer, RedisServer

DOMAIN = "counted.example"
Keeper = RedisServer | PostgresServer
RATE = 50.0


@pytest.fixture(scope="module", params=[RedisServer, pytest.param(PostgresServer, marks=pytest.mark.slow)])
def keeper(request: pytest.FixtureRequest) -> Iterator[Keeper]:
    server = request.param()
    yield server
    server.stop()


@pytest.fixture
def opened(keeper: Keeper) -> Iterator[list[Turns]]:
    """Two workers' connections to an empty server."""
    keeper.clear()
    both: list[Turns] = []
    for _ in range(2):
        if isinstance(keeper, RedisServer):
            from resources.pacing.shared.redis_turns import RedisTurns

            both.append(RedisTurns(keeper.address))
        else:
            from resources.pacing.shared.postgres_turns import PostgresTurns

            both.append(PostgresTurns(keeper.address))
    yield both
    for turns in both:
        turns.close()


class Reply:
    """What a turn gave, by name."""

    def __init__(
        self,
        turns: Turns,
        worker: str,
        hold: int,
        slots: int,
        *,
        lost: int = 0,
        rate: float = 0.0,
        back: list[float] | None = None,
    ) -> None:
        told = (rate, 4, 0.0, "{}") if rate else None
        ask = Ask(DOMAIN, hold, 9, slots, 1, back or [], told=told, lost=lost)
        (raw,) = turns.take(worker, [ask], 0.0)
        self.now, self.permits = float(raw[0]), int(raw[2])
        self.slots = [float(each) for each in raw[11 : 11 + int(raw[10])]]


def lead(turns: Turns, worker: str, rate: float = RATE) -> Reply:
    """Become the leader, tell the rate, and take what permits there are."""
    Reply(turns, worker, 0, 0)
    return Reply(turns, worker, 1, 0, rate=rate)


def gaps(reply: Reply) -> list[float]:
    return [after - before for before, after in itertools.pairwise(reply.slots)]


def test_lost_slots_come_again_by_gaps_that_are_one_per_cent_shorter(opened: list[Turns]) -> None:
    one, two = opened
    lead(one, "a")
    assert gaps(Reply(one, "a", 1, 10)) == pytest.approx([1 / RATE] * 9, abs=5e-6)
    assert gaps(Reply(one, "a", 1, 10, lost=2)) == pytest.approx([0.99 / RATE] * 9, abs=5e-6)
    # Whoever asks: what one lost is owed to all.
    assert gaps(Reply(two, "b", 1, 10)) == pytest.approx([0.99 / RATE] * 9, abs=5e-6)


def test_slots_given_back_go_to_others_and_those_that_passed_are_made_up_for(opened: list[Turns]) -> None:
    one, two = opened
    lead(one, "a")
    first = Reply(one, "a", 1, 10)
    again = Reply(two, "b", 1, 2, back=[first.now - 0.1, *first.slots[-2:]])
    assert again.slots == pytest.approx(first.slots[-2:], abs=5e-6)
    assert gaps(Reply(one, "a", 1, 10)) == pytest.approx([0.99 / RATE] * 9, abs=5e-6)


def test_of_lost_slots_no_more_than_a_second_is_owed(opened: list[Turns]) -> None:
    one, _ = opened
    lead(one, "a", rate=5.0)
    Reply(one, "a", 1, 0, lost=100_000)
    given = [Reply(one, "a", 1, 1).slots[0] for _ in range(530)]
    shorter = [after - before < 0.995 / 5.0 for before, after in itertools.pairwise(given)]
    assert sum(shorter) == pytest.approx(5.0 / 0.01, abs=2)


def test_after_a_break_nothing_new_is_given_for_a_second(keeper: Keeper, opened: list[Turns]) -> None:
    """Both before the break was noticed by an error, and after: a server may have forgotten what it gave."""
    one, two = opened
    before = [lead(one, "a"), Reply(one, "a", 1, 10), Reply(two, "b", 0, 10)]
    keeper.kill()
    keeper.start()
    back = [after_break(one, "a", 1), after_break(two, "b", 0), after_break(one, "a", 1)]
    assert [reply.permits for reply in back] == [0, 0, 0]
    given = [slot for reply in back for slot in reply.slots]
    assert all(slot >= back[0].now + 1.0 - 1e-3 for slot in given)
    assert set(given).isdisjoint(slot for reply in before for slot in reply.slots)
    time.sleep(1.1)
    assert Reply(one, "a", 0, 0).permits + Reply(two, "b", 0, 0).permits > 0


def after_break(turns: Turns, worker: str, hold: int) -> Reply:
    """The first answer that comes."""
    while True:
        try:
            return Reply(turns, worker, hold, 5)
        except LedgerError:
            time.sleep(0.02)
