"""Windows open and close by the site's own clock, daylight saving included."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.pacing.window import Window

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str, zone: ZoneInfo | None = BERLIN, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold).timestamp()


def test_a_window_over_midnight() -> None:
    window = Window.parse("22:00-06:00", "Europe/Berlin")
    assert not window.is_open(at("2024-05-02 21:59:59"))
    assert window.is_open(at("2024-05-02 22:00:00"))
    assert window.is_open(at("2024-05-03 05:59:59"))
    assert not window.is_open(at("2024-05-03 06:00:00"))
    assert window.closes_at(at("2024-05-02 23:00:00")) == at("2024-05-03 06:00:00")
    assert window.opens_at(at("2024-05-03 06:00:00")) == at("2024-05-03 22:00:00")
    assert window.opens_at(at("2024-05-03 23:00:00")) == at("2024-05-03 23:00:00")
    assert window.closes_at(at("2024-05-03 12:00:00")) is None


def test_days_are_those_on_which_it_opens() -> None:
    window = Window.parse("22:00-06:00", "Europe/Berlin", "fri,sat")
    assert window.is_open(at("2024-05-04 05:00:00"))  # Saturday morning belongs to Friday
    assert window.is_open(at("2024-05-05 05:00:00"))  # Sunday morning belongs to Saturday
    assert not window.is_open(at("2024-05-05 23:00:00"))  # Sunday evening
    assert window.opens_at(at("2024-05-05 23:00:00")) == at("2024-05-10 22:00:00")
    assert Window.parse("01:00-02:00", days="fri-mon").days == {4, 5, 6, 0}


def test_the_night_the_clocks_go_forward_is_an_hour_shorter() -> None:
    window = Window.parse("22:00-06:00", "Europe/Berlin")
    closes = window.closes_at(at("2024-03-30 22:00:00"))
    assert closes == at("2024-03-31 06:00:00")
    assert closes - at("2024-03-30 22:00:00") == 7 * 3600


def test_the_night_the_clocks_go_back_is_an_hour_longer() -> None:
    window = Window.parse("22:00-06:00", "Europe/Berlin")
    closes = window.closes_at(at("2024-10-26 22:00:00"))
    assert closes == at("2024-10-27 06:00:00")
    assert closes - at("2024-10-26 22:00:00") == 9 * 3600


def test_a_start_inside_the_missing_hour_opens_at_the_jump() -> None:
    window = Window.parse("02:30-05:00", "Europe/Berlin")
    jump = datetime(2024, 3, 31, 1, 0, tzinfo=UTC).timestamp()
    assert not window.is_open(jump - 1)
    assert window.opens_at(jump - 60) == jump
    assert window.is_open(jump)


def test_an_end_inside_the_repeated_hour_closes_at_its_first_pass() -> None:
    window = Window.parse("23:00-02:30", "Europe/Berlin")
    first, second = at("2024-10-27 02:30:00", fold=0), at("2024-10-27 02:30:00", fold=1)
    assert second - first == 3600
    assert window.closes_at(at("2024-10-27 01:00:00")) == first
    assert not window.is_open(first)
    assert not window.is_open(second - 1)


def test_equal_times_are_a_whole_day_and_adjoining_days_are_one_window() -> None:
    window = Window.parse("00:00-00:00", "Europe/Berlin", "sat,sun")
    assert window.closes_at(at("2024-05-04 12:00:00")) == at("2024-05-06 00:00:00")
    assert Window.parse("00:00-24:00", "UTC").is_open(at("2024-05-04 12:00:00"))


@pytest.mark.parametrize(
    ("hours", "zone", "days", "named"),
    [
        ("22:00", "UTC", None, "HH:MM-HH:MM"),
        ("22:00-25:00", "UTC", None, "25:00"),
        ("22:00-06:00", "Europe/Atlantis", None, "Europe/Atlantis"),
        ("22:00-06:00", "UTC", "mon,someday", "someday"),
    ],
)
def test_what_is_wrong_is_named(hours: str, zone: str, days: str | None, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Window.parse(hours, zone, days)


@given(
    now=st.floats(1.5e9, 2.0e9),
    start=st.times(),
    end=st.times(),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]),
    days=st.sets(st.integers(0, 6), min_size=1),
)
def test_open_closes_and_opens_agree(
    now: float, start: object, end: object, zone: str, days: set[int]
) -> None:
    window = Window(start, end, zone, frozenset(days))  # type: ignore[arg-type]
    closes = window.closes_at(now)
    assert (closes is not None) == window.is_open(now)
    opens = window.opens_at(now)
    assert opens >= now
    if closes is None:
        assert window.is_open(opens) or opens == now
        assert not window.is_open((now + opens) / 2) or opens - now < 1e-3
    else:
        assert closes > now and opens == now
