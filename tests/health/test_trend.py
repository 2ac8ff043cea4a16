"""Recorded nights: a trend is answered, a single reading is not."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from resources.health.trend import BAN, COOL, COOL_OFF_S, EASE, GOOD_RUN, LEAST, TrendState
from tests.health.nights import Answers, Night

GOOD: Answers = (100, 0, 0)


def throttled(*shares: int) -> list[Answers]:
    """One minute each; percent of 429s."""
    return [(100, share, 0) for share in shares]


def test_a_quiet_night_is_left_alone() -> None:
    assert Night().play([GOOD] * 60).kinds == []


def test_a_slow_climb_is_eased_before_anything_is_lost_and_again_while_it_goes_on() -> None:
    night = Night().play([GOOD] * 5 + throttled(1, 2, 3, 4, 5, 6, 7))
    assert night.kinds == ["ease", "ease", "ease"]
    minute, first = night.done[0]
    assert minute == 7, "three windows in a row, no more"
    assert first.factor == EASE
    assert "0.0% → 1.0% → 2.0%" in first.reason
    assert night.done[-1][1].factor == EASE**3


def test_a_burst_is_the_pacers_business() -> None:
    assert Night().play([GOOD] * 5 + throttled(40) + [GOOD] * 10).kinds == []


def test_trouble_that_stays_is_cooled_down_and_the_canaries_are_asked() -> None:
    night = Night().play([GOOD] * 5 + throttled(30, 30))
    assert night.kinds == ["cool_down", "ask_canary"]
    assert night.done[0][1].factor == COOL


def test_flapping_is_eased_once_and_recovers_twice_as_slowly() -> None:
    night = Night().play(throttled(0, 8, 0, 8, 0, 8, 0, 8, 0, 8))
    assert night.kinds == ["ease"]
    steady = night.play([GOOD] * (2 * GOOD_RUN - 2))
    assert steady.kinds == ["ease"]
    assert steady.play([GOOD] * 2).kinds == ["ease", "lift"]


def test_a_full_ban_pauses_and_each_return_that_fails_waits_twice_as_long() -> None:
    night = Night().play([GOOD] * 5 + [(100, 0, 95)] * 200)
    pauses = [(minute, action) for minute, action in night.done if action.kind == "pause"]
    waits = [(action.until - minute * 60) / COOL_OFF_S for minute, action in pauses]
    assert waits[:3] == [1, 2, 4]
    returns = [action for _, action in night.done if action.kind == "resume"]
    assert len(returns) >= 2
    assert [a.factor for _, a in night.done if a.kind == "ease"] == [COOL] * len(returns)


def test_a_jump_in_403s_without_any_429_is_seen() -> None:
    night = Night().play([(100, 0, 1)] * 10 + [(100, 0, 30)] * 2)
    assert night.kinds == ["cool_down", "ask_canary"]
    assert "403s and walls jumped from 0.9%" in night.done[0][1].reason


def test_a_site_with_many_forbidden_pages_is_believed_once_its_canaries_are_well() -> None:
    night = Night(canary=lambda now: "passed").play([(100, 0, 30)] * 12)
    night.play([(100, 0, 30)] * 40)
    assert night.kinds[:2] == ["cool_down", "ask_canary"]
    assert night.kinds[2:] == ["faster", "faster", "faster", "lift"]


def test_recovery_gives_the_rate_back_in_steps() -> None:
    night = Night().play(throttled(30, 30)).play([GOOD] * 40)
    factors = [action.factor for _, action in night.done if action.kind in ("cool_down", "faster", "lift")]
    assert factors == [0.25, 0.375, 0.5625, 0.84375, 1.0]
    minutes = [minute for minute, action in night.done if action.kind in ("faster", "lift")]
    assert [b - a for a, b in pairwise(minutes)] == [GOOD_RUN] * 3
    assert night.state.forgettable


def test_a_recovery_that_fails_goes_back_down() -> None:
    night = Night().play(throttled(30, 30) + [GOOD] * 5 + throttled(1, 3, 5))
    assert night.kinds == ["cool_down", "ask_canary", "faster", "ease"]
    assert night.done[-1][1].factor < night.done[-2][1].factor


def test_when_the_fault_is_ours_everything_is_lifted() -> None:
    words = iter([None, "us"])
    night = Night(canary=lambda now: next(words)).play(throttled(30, 30)).play([GOOD])  # type: ignore[arg-type]
    assert night.kinds == ["cool_down", "ask_canary", "lift"]
    assert night.state.forgettable


def test_canaries_that_are_well_end_a_pause_early() -> None:
    night = Night(canary=lambda now: "passed" if now > 600 else None).play([(100, 95, 0)] * 12)
    assert night.kinds == ["pause", "ask_canary", "resume", "ease"]
    assert night.done[2][0] * 60 < COOL_OFF_S


def test_a_canary_run_that_never_answers_is_not_waited_for() -> None:
    night = Night().play([(100, 95, 0)] * 2).play([GOOD] * 40)
    assert "resume" in night.kinds


@given(st.lists(st.tuples(st.integers(20, 200), st.integers(0, 20), st.integers(0, 20)), max_size=80))
def test_whatever_a_site_does_the_rate_stays_between_its_bounds_and_good_windows_bring_it_back(
    minutes: list[Answers],
) -> None:
    night = Night().play(minutes)
    assert all(LEAST <= a.factor <= 1.0 for _, a in night.done if a.kind in ("ease", "cool_down", "faster"))
    for minute, action in night.done:
        if action.kind == "pause":
            requests, bad, forbidden = minutes[minute - 1]
            assert bad + forbidden >= BAN * requests
    night.play([GOOD] * 400)
    assert night.state.factor == 1.0
    assert night.state.phase == "calm"


@given(st.lists(st.tuples(st.integers(20, 200), st.integers(0, 20), st.integers(0, 20)), max_size=30))
def test_a_night_played_twice_is_the_same_night(minutes: list[Answers]) -> None:
    assert Night().play(minutes).done == Night().play(minutes).done


def test_states_of_an_older_version_are_read() -> None:
    assert TrendState.from_json({"phase": "eased", "factor": 0.5, "gone": 1}).factor == 0.5
