"""A plan of a night: how much, how long, who is critical, and whether it will be ready."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.installation import Installation
from resources.pacing.window import Window
from resources.planner.deadline import deadline_after, ready_by
from resources.planner.domain import OVERHEAD_REQUESTS, DomainPlan, pace, plan_domain
from resources.planner.facts import DomainFacts, PastNight
from resources.planner.forecast import Actual, compare
from resources.planner.night import NightPlan, plan_night
from resources.planner.store import load_plan, plan_path, save_plan
from resources.planner.words import answer, plan_markdown

#: 2026-11-29 01:00 UTC.
START = 1795914000.0
HOUR = 3600.0

NIGHT = PastNight("2026-11-28", requests=1_000, urls=900, seconds=500.0, wire_bytes=500_000, new_pages=30)
FIRST = PastNight(
    "2026-11-01", requests=3_000, urls=3_000, seconds=1_500.0, wire_bytes=9_000_000, new_pages=3_000
)
SHOP = DomainFacts(
    "shop.example",
    starts_at=START,
    deadline=START + 6 * HOUR,
    due=900,
    rate=2.0,
    history=(FIRST, NIGHT, NIGHT),
)


def test_what_is_due_takes_its_time_at_the_learned_rate() -> None:
    plan = plan_domain(SHOP)
    assert plan.urls == 900 + 30
    assert plan.requests == round(930 * 1000 / 900) + OVERHEAD_REQUESTS
    assert plan.seconds == pytest.approx(plan.requests / 2.0)
    assert plan.wire_bytes == plan.requests * 500
    assert plan.known and plan.why_rate == "learned"


def test_the_first_night_in_which_everything_was_new_is_not_expected_again() -> None:
    assert plan_domain(replace(SHOP, history=(FIRST,))).urls == 900
    assert plan_domain(replace(SHOP, history=(FIRST,), first_seen=False)).urls == 900 + 3_000


def test_a_domain_nobody_knows_is_a_guess_and_says_so() -> None:
    plan = plan_domain(DomainFacts("new.example", starts_at=START, pending=1))
    assert not plan.known
    assert "first night" in plan.notes[0]


@pytest.mark.parametrize(
    ("changes", "rate", "why"),
    [
        ({}, 2.0, "learned"),
        ({"ceiling": 0.5}, 0.5, "as configured"),
        ({"rate": 10.0}, 2.0, "as in earlier nights, slower than allowed"),
        ({"rate": None}, 2.0, "as in earlier nights"),
        ({"rate": None, "history": (), "ceiling": 3.0}, 3.0, "as configured"),
        ({"rate": None, "history": ()}, 1.0, "nothing known: a guess"),
    ],
)
def test_the_pace_is_what_held_before_and_never_above_what_is_allowed(
    changes: dict[str, object], rate: float, why: str
) -> None:
    assert pace(replace(SHOP, **changes)) == (rate, why)  # type: ignore[arg-type]


def test_a_paused_domain_is_not_planned_to_be_ready() -> None:
    plan = plan_domain(replace(SHOP, paused_cause="wall"))
    assert (plan.ready_at, plan.requests, plan.left) == (None, 0, 930)


def test_a_wait_that_the_site_asked_for_comes_first() -> None:
    plan = plan_domain(replace(SHOP, owed_until=START + HOUR))
    assert plan.seconds == pytest.approx(HOUR + plan.requests / 2.0)


def test_a_window_that_closes_first_leaves_the_rest() -> None:
    plan = plan_domain(replace(SHOP, window=Window.parse("01:00-01:05")))
    assert plan.fetched_at == START + 300
    assert plan.requests == 600
    assert plan.left > 300
    assert "window" in plan.notes[0]


def test_a_window_that_opens_later_is_waited_for() -> None:
    plan = plan_domain(replace(SHOP, window=Window.parse("03:00-06:00")))
    assert plan.seconds == pytest.approx(2 * HOUR + plan.requests / 2.0)


def test_the_page_limit_leaves_the_rest() -> None:
    plan = plan_domain(replace(SHOP, max_pages=100))
    assert (plan.urls, plan.left) == (100, 830)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0.01, 200))
def test_more_work_never_takes_less_time(due: int, more: int, rate: float) -> None:
    one = plan_domain(replace(SHOP, due=due, rate=rate))
    other = plan_domain(replace(SHOP, due=due + more, rate=rate))
    assert (other.ready_at or 0) >= (one.ready_at or 0) > START


# -- the night ---------------------------------------------------------------------------------------
def test_the_critical_domain_is_the_one_everybody_waits_for() -> None:
    slow = replace(SHOP, domain="slow.example", rate=0.02)
    plan = plan_night("2026-11-29", [SHOP, slow], START)
    assert plan.critical is not None and plan.critical.domain == "slow.example"
    assert [d.domain for d in plan.late] == ["slow.example"]
    assert plan.verdict == "no"
    assert answer(plan).startswith("Not ready by 07:00: slow.example")


def test_a_night_that_fits_is_told_with_its_hour() -> None:
    plan = plan_night("2026-11-29", [SHOP], START)
    assert plan.verdict == "yes"
    assert "in time for 07:00" in answer(plan)
    assert "shop.example" in plan_markdown(plan)


def test_many_quick_domains_are_bound_by_the_machine() -> None:
    many = [replace(SHOP, domain=f"d{n}.example") for n in range(10_000)]
    plan = plan_night("2026-11-29", many, START)
    assert plan.ready_at == START + plan.requests / 300.0
    assert plan.verdict == "no"
    assert "this machine" in answer(plan)


def test_first_nights_leave_the_answer_open() -> None:
    plan = plan_night("2026-11-29", [DomainFacts("new.example", starts_at=START, pending=5)], START)
    assert plan.verdict == "unknown"
    assert "guessed" in answer(plan)


def test_nothing_to_do_is_an_answer() -> None:
    assert plan_night("2026-11-29", [], START).verdict == "nothing"


# -- the deadline ------------------------------------------------------------------------------------
def test_the_deadline_is_the_next_morning_on_the_clocks_of_the_site() -> None:
    assert deadline_after(START, time(7), "UTC") == START + 6 * HOUR
    assert deadline_after(START, time(7), "Europe/Berlin") == START + 5 * HOUR
    assert deadline_after(START, time(1), "UTC") == START + 24 * HOUR


def test_the_hour_can_be_set() -> None:
    assert ready_by("", {}) == time(7)
    assert ready_by("", {"NIGHTCRAWL_READY_BY": "05:30"}) == time(5, 30)
    with pytest.raises(ValueError, match="no time of day"):
        ready_by("seven")


# -- kept --------------------------------------------------------------------------------------------
def test_a_plan_is_kept_and_read_again(tmp_path: Path) -> None:
    house = Installation.at(tmp_path)
    plan = plan_night("2026-11-29", [SHOP, replace(SHOP, domain="b.example", paused_cause="429")], START)
    assert load_plan(house, "2026-11-29") is None
    path = save_plan(house, plan)
    assert load_plan(house, "2026-11-29") == plan
    path.write_text("{}")
    with pytest.raises(ValueError, match="no plan"):
        load_plan(house, "2026-11-29")
    with pytest.raises(ValueError, match="no night"):
        plan_path(house, "../../etc")


# -- afterwards --------------------------------------------------------------------------------------
def planned(requests: int = 1_000, seconds: float = 1_000.0, **changes: object) -> NightPlan:
    plan = DomainPlan(
        "shop.example",
        "shop",
        START,
        requests,
        requests,
        0,
        1.0,
        "",
        START + seconds,
        START + seconds + 60,
        None,
    )
    return NightPlan("2026-11-29", START, (replace(plan, **changes),))  # type: ignore[arg-type]


def actual(requests: int = 1_000, seconds: float = 1_000.0, failed: bool = False) -> dict[str, Actual]:
    return {"shop.example": Actual("shop.example", requests, 0, START + seconds, failed)}


@pytest.mark.parametrize(
    ("plan", "real", "words"),
    [
        (planned(), actual(), ""),
        (planned(), actual(1_400), ""),
        (planned(), actual(2_000), "2,000 requests, more than the 1,000 planned"),
        (planned(), actual(100), "100 requests, fewer"),
        (planned(), actual(seconds=7_200), "120 min, longer than the 17 min planned"),
        (planned(10), actual(60), ""),
        (planned(), actual(10, failed=True), ""),
        (planned(known=False), actual(50_000), ""),
    ],
)
def test_a_forecast_that_was_off_is_told_in_words(
    plan: NightPlan, real: dict[str, Actual], words: str
) -> None:
    (row,) = compare(plan, real, START + 2_000).domains
    assert row.words.startswith(words) and bool(row.words) == bool(words)


def test_a_night_that_came_too_late_is_told() -> None:
    plan = planned(deadline=START + 1_500)
    assert compare(plan, actual(), START + 1_400).held
    late = compare(plan, actual(), START + 1_800)
    assert late.late_s == 300 and not late.held


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_comparing_never_fails(planned_requests: int, requests: int) -> None:
    found = compare(planned(planned_requests), actual(requests), START)
    assert math.isfinite(found.ready_at)
