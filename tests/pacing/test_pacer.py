"""One decision, race-free slots, no head-of-line blocking, orders from outside, and what is remembered."""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.clock import VirtualClock
from resources.pacing.base import EventKind, Observation, Outcome, PaceLimits, ReasonName, Slot
from resources.pacing.ledger.base import Command
from resources.pacing.ledger.memory import MemoryLedger
from resources.pacing.pacer import Pacer
from resources.pacing.slots import LocalSlots
from resources.pacing.window import Window

A, B = "a.example", "b.example"


def make(limits: PaceLimits | None = None, *domains: str) -> tuple[Pacer, VirtualClock, MemoryLedger]:
    clock, ledger = VirtualClock(), MemoryLedger()
    pacer = Pacer(clock, ledger, rng=random.Random(1))
    for domain in domains or (A,):
        pacer.admit(domain, limits or PaceLimits())
        pacer.want(domain, 1000)
    return pacer, clock, ledger


def seen(clock: VirtualClock, **more: object) -> Observation:
    base = Observation(clock.now(), clock.now(), 0.001, 0.001, 200, Outcome.OK, None, 20_000)
    return replace(base, **more)  # type: ignore[arg-type]


def next_slot(pacer: Pacer, clock: VirtualClock) -> Slot:
    """Move to the next slot and take it."""
    while (slot := pacer.take(clock.now())) is None:
        at = pacer.next_at(clock.now())
        assert at is not None, "nothing can be taken any more"
        clock.tick(max(at - clock.now(), 1e-6))
    return slot


def test_a_slot_is_spent_once_and_the_next_waits_for_its_gap() -> None:
    pacer, clock, _ = make(PaceLimits(rate=2.0, jitter=0.0))
    slot = pacer.take(clock.now())
    assert slot is not None
    assert pacer.take(clock.now()) is None
    pacer.done(slot, seen(clock))
    assert pacer.take(clock.now()) is None
    at = pacer.next_at(clock.now())
    assert at == pytest.approx(clock.now() + 0.5)


def test_burst_lets_so_many_go_at_once_and_then_the_rate() -> None:
    pacer, clock, _ = make(PaceLimits(rate=1.0, burst=3, jitter=0.0, concurrency=5))
    pacer.done(next_slot(pacer, clock), seen(clock))
    taken = []
    for _ in range(8):
        slot = next_slot(pacer, clock)
        taken.append(slot.at)
        pacer.done(slot, seen(clock))
    for start in taken:
        for width in (0.5, 1.0, 3.0):
            assert sum(start <= at < start + width for at in taken) <= 3 + 1 + width


def test_concurrency_is_the_ceiling_and_freed_by_done() -> None:
    pacer, clock, _ = make(PaceLimits(rate=math.inf, concurrency=2))
    first, second = pacer.take(clock.now()), pacer.take(clock.now())
    assert first and second and pacer.take(clock.now()) is None
    assert pacer.next_at(clock.now()) is None
    pacer.done(first, seen(clock))
    assert pacer.take(clock.now()) is not None


def test_a_waiting_domain_costs_the_others_nothing() -> None:
    pacer, clock, _ = make(PaceLimits(rate=10.0, jitter=0.0), A, B)
    slot = next_slot(pacer, clock)
    pacer.done(slot, seen(clock, status=429, retry_after_s=600.0))
    other = {A: B, B: A}[slot.domain]
    for _ in range(20):
        slot = next_slot(pacer, clock)
        assert slot.domain == other
        pacer.done(slot, seen(clock))


def test_want_nothing_is_out_of_the_heap_and_put_back_gives_the_url_back() -> None:
    pacer, clock, _ = make()
    pacer.want(A, 0)
    assert pacer.take(clock.now()) is None and pacer.next_at(clock.now()) is None
    pacer.want(A, 1)
    slot = next_slot(pacer, clock)
    assert pacer.next_at(clock.now()) is None
    pacer.put_back(slot)
    assert pacer.snapshot(A).waiting == 1 and pacer.snapshot(A).in_flight == 0
    assert next_slot(pacer, clock).domain == A


def test_retry_after_holds_the_whole_domain_and_is_not_returned_from_in_lockstep() -> None:
    returns = set()
    for seed in range(20):
        clock = VirtualClock()
        pacer = Pacer(clock, MemoryLedger(), rng=random.Random(seed))
        pacer.admit(A, PaceLimits())
        pacer.want(A, 10)
        slot = next_slot(pacer, clock)
        events = pacer.done(slot, seen(clock, status=429, retry_after_s=10.0))
        assert EventKind.WAIT in {event.kind for event in events}
        reasons = pacer.decide(A, clock.now()).reasons
        assert reasons[0].name is ReasonName.RETRY_AFTER
        refused_at = clock.now()
        again = next_slot(pacer, clock)
        assert 10.0 < again.at - refused_at <= 10.6
        returns.add(round(again.at - refused_at, 4))
        assert pacer.take(clock.now()) is None  # one connection during the cool-down
    assert len(returns) > 15


def test_retry_after_beyond_the_maximum_is_put_off() -> None:
    pacer, clock, _ = make(PaceLimits(retry_after_max_s=60.0))
    events = pacer.done(next_slot(pacer, clock), seen(clock, status=503, retry_after_s=3600.0))
    put_off = [event for event in events if event.kind is EventKind.PUT_OFF]
    assert put_off and put_off[0].until is not None and put_off[0].until >= clock.now() + 3600
    decision = pacer.decide(A, clock.now())
    assert decision.put_off and decision.at >= clock.now() + 3600


def test_refusals_that_were_in_flight_together_are_one_event() -> None:
    pacer, clock, _ = make(PaceLimits(rate=100.0, jitter=0.0))
    for _ in range(300):
        pacer.done(next_slot(pacer, clock), seen(clock))
    rate = pacer.snapshot(A).rate
    sent_at = clock.now()
    pacer.done(next_slot(pacer, clock), seen(clock, status=429))
    late = Observation(clock.now() + 30, sent_at, 0.01, 0.01, 429)  # sent before the first was answered
    before = pacer.snapshot(A).rate
    assert before < rate
    clock.tick(30)
    slot = next_slot(pacer, clock)
    pacer.done(slot, late)
    assert pacer.snapshot(A).rate == before


def test_crawl_delay_of_robots_is_a_ceiling_and_may_be_replaced_or_ignored() -> None:
    obey = PaceLimits(rate=10.0, robots_delay_s=5.0)
    assert obey.ceiling == pytest.approx(0.2)
    assert replace(obey, crawl_delay="ignore").ceiling == 10.0
    assert replace(obey, crawl_delay=2.0).ceiling == 0.5
    pacer, clock, _ = make(obey)
    next_slot(pacer, clock)
    names = {reason.name for reason in pacer.decide(A, clock.now()).reasons}
    assert ReasonName.CRAWL_DELAY in names


def test_a_crawl_delay_beyond_the_maximum_gives_one_request_a_night_and_is_kept_between_nights() -> None:
    far = PaceLimits(rate=10.0, robots_delay_s=3600.0, crawl_delay_max_s=60.0)
    pacer, clock, ledger = make(far)
    assert not pacer.decide(A, clock.now()).put_off
    pacer.done(next_slot(pacer, clock), seen(clock))
    decision = pacer.decide(A, clock.now())
    assert decision.put_off and decision.reasons[0].name is ReasonName.CRAWL_DELAY
    pacer.checkpoint(clock.now())
    clock.tick(600.0)
    soon = Pacer(clock, ledger)
    soon.admit(A, far)
    soon.want(A, 1)
    assert soon.decide(A, clock.now()).put_off and soon.take(clock.now()) is None
    clock.tick(5_000.0)
    assert soon.take(clock.now()) is not None


def test_ramp_up_halves_the_rate_for_the_first_minutes() -> None:
    pacer, clock, _ = make(PaceLimits(rate=10.0, ramp_up_s=120.0))
    pacer.done(next_slot(pacer, clock), seen(clock))
    decision = pacer.decide(A, clock.now())
    assert decision.rate == pytest.approx(5.0)
    assert ReasonName.RAMP_UP in {reason.name for reason in decision.reasons}
    clock.tick(121)
    pacer.done(next_slot(pacer, clock), seen(clock))
    assert pacer.decide(A, clock.now()).rate == pytest.approx(10.0)


def test_outside_its_window_a_domain_is_not_requested() -> None:
    clock = VirtualClock(1_700_000_000.0)  # 22:13:20 UTC
    pacer = Pacer(clock, MemoryLedger())
    pacer.admit(A, PaceLimits(window=Window.parse("22:00-22:15"), rate=1.0))
    pacer.want(A, 10_000)
    last = 0.0
    while (at := pacer.next_at(clock.now())) is not None and at < 1_700_000_000 + 600:
        slot = next_slot(pacer, clock)
        last = slot.at
        pacer.done(slot, seen(clock))
    assert last < 1_700_000_100.0  # 22:15
    assert at == pytest.approx(1_700_000_100.0 + 86_400 - 900)
    decision = pacer.decide(A, clock.now() + 60)
    assert decision.reasons[0].name is ReasonName.WINDOW


def test_pause_and_resume_by_hand_and_through_the_ledger() -> None:
    pacer, clock, ledger = make()
    events = pacer.pause(A, "under maintenance")
    assert events[0].kind is EventKind.PAUSED and events[0].alert
    assert pacer.next_at(clock.now()) is None
    assert pacer.decide(A, clock.now()).at == math.inf
    ledger.send(Command(A, "resume", clock.now(), reason="done"))
    assert [event.kind for event in pacer.checkpoint(clock.now())] == [EventKind.RESUMED]
    assert next_slot(pacer, clock)


def test_a_slow_down_sent_to_the_ledger_reaches_a_running_pacer_and_the_next_one_once() -> None:
    pacer, clock, ledger = make(PaceLimits(rate=8.0))
    ledger.send(Command(A, "slow_down", clock.now(), 0.25, clock.now() + 600, "share of 429 rises"))
    pacer.checkpoint(clock.now())
    assert pacer.decide(A, clock.now()).rate == pytest.approx(2.0)
    assert pacer.checkpoint(clock.now()) == []
    pacer.checkpoint(clock.now())
    other = Pacer(clock, ledger)
    other.admit(A, PaceLimits(rate=8.0))
    other.want(A, 5)
    other.done(next_slot(other, clock), seen(clock))
    assert other.decide(A, clock.now()).rate == pytest.approx(2.0)
    clock.tick(601)
    other.want(A, 5)
    other.done(next_slot(other, clock), seen(clock))
    assert other.decide(A, clock.now()).rate == pytest.approx(8.0)


def test_the_ledger_carries_what_is_owed_into_another_process() -> None:
    pacer, clock, ledger = make()
    pacer.done(next_slot(pacer, clock), seen(clock, status=429, retry_after_s=500.0))
    pacer.checkpoint(clock.now())
    other = Pacer(clock, ledger)
    other.admit(A, PaceLimits())
    other.want(A, 1)
    at = other.next_at(clock.now())
    assert at is not None and at >= clock.now() + 500


def test_the_night_is_written_to_the_history() -> None:
    pacer, clock, ledger = make()
    for _ in range(10):
        pacer.done(next_slot(pacer, clock), seen(clock))
    pacer.done(next_slot(pacer, clock), seen(clock, status=429))
    pacer.end_night("2024-05-01", clock.now())
    night = ledger.history(A)[0]
    assert (night.requests, night.throttled) == (11, 1)
    assert night.waited_s > 0


async def test_a_domain_whose_night_is_over_gets_its_row_while_others_go_on() -> None:
    pacer, clock, ledger = make()
    pacer.done(next_slot(pacer, clock), seen(clock))
    assert pacer.end_night("2024-05-01", clock.now(), ["other.example"]) == []
    (row,) = pacer.end_night("2024-05-01", clock.now(), [A])
    await clock.advance(60)
    assert pacer.end_night("2024-05-01", clock.now()) == [], "its end is not that of the whole night"
    assert ledger.history(A) == [row]
    pacer.done(next_slot(pacer, clock), seen(clock))
    assert [r.requests for r in pacer.end_night("2024-05-01", clock.now())] == [2]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"rate": 0.0}, "rate"),
        ({"burst": 0}, "burst"),
        ({"concurrency": 6}, "concurrency"),
        ({"jitter": 1.0}, "jitter"),
    ],
)
def test_limits_that_make_no_sense_are_refused_by_name(values: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        PaceLimits(**values)  # type: ignore[arg-type]


@settings(max_examples=60)
@given(
    rate=st.floats(0.5, 50),
    burst=st.integers(1, 4),
    jitter=st.floats(0, 0.9),
    delays=st.lists(st.floats(0, 0.3), min_size=40, max_size=40),
    seed=st.integers(0, 1000),
)
def test_never_more_than_burst_in_any_window(
    rate: float, burst: int, jitter: float, delays: list[float], seed: int
) -> None:
    clock = VirtualClock()
    pacer = Pacer(clock, MemoryLedger(), rng=random.Random(seed))
    pacer.admit(A, PaceLimits(rate=rate, burst=burst, jitter=jitter))
    pacer.want(A, 1000)
    sent = []
    for delay in delays:
        slot = next_slot(pacer, clock)
        sent.append(slot.at)
        clock.tick(delay)
        pacer.done(slot, seen(clock))
    for index, start in enumerate(sent):
        for later in range(index + 1, len(sent)):
            # Epoch seconds as floats are good to a quarter of a microsecond; next_slot steps by one.
            assert later - index + 1 <= burst + 1 + (sent[later] - start) * rate + 1e-3
    if burst == 1:
        gaps = [b - a for a, b in pairwise(sent)]
        assert min(gaps) >= (1 - jitter) / rate * (1 - 1e-6) - 1e-6


@given(
    calls=st.lists(st.tuples(st.integers(1, 5), st.floats(0, 3)), min_size=1, max_size=30),
    interval=st.floats(0.01, 2),
    burst=st.integers(1, 5),
)
def test_reserved_slots_are_ascending_and_never_given_twice(
    calls: list[tuple[int, float]], interval: float, burst: int
) -> None:
    slots, now, given_out = LocalSlots(), 1000.0, []
    for n, pause in calls:
        now += pause
        booked = slots.reserve(A, n, interval, burst, now)
        assert len(booked) == n and all(slot >= now for slot in booked)
        given_out += booked
    assert given_out == sorted(given_out)
    for index in range(len(given_out) - burst):
        assert given_out[index + burst] - given_out[index] >= interval * (1 - 1e-6)


def test_a_hundred_thousand_domains_are_picked_among_in_logarithmic_time() -> None:
    def cost(domains: int) -> float:
        clock = VirtualClock()
        pacer = Pacer(clock, MemoryLedger(), rng=random.Random(1))
        limits = PaceLimits(rate=1.0)
        for number in range(domains):
            pacer.admit(f"d{number}.example", limits)
            pacer.want(f"d{number}.example", 1000)
        now, begun, taken = clock.now(), time.perf_counter(), 0
        while taken < 5_000:
            slot = pacer.take(now)
            if slot is None:
                now = pacer.next_at(now) or now
                continue
            pacer.done(slot, Observation(now, now, 0.001, 0.001, 200, "ok", None, 20_000))
            taken += 1
        return (time.perf_counter() - begun) / taken

    # Linear would be 1,000 times; logarithmic is 2.5 times, and caches are what they are.
    assert cost(50_000) < 25 * min(cost(100) for _ in range(3))
