"""Retry-After: seconds or a date, never negative, never above the cap, never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.http_date import format_http_date
from resources.web.retry_after import retry_after

NOW = 1_559_559_600.0  # Mon, 03 Jun 2019 11:00:00 GMT
DAY = 86_400.0


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", 120.0),
        (" 007 ", 7.0),
        ("0", 0.0),
        ("99999999999999999999", DAY),
        ("9" * 5000, DAY),
        ("60, 120", 120.0),
        ("Mon, 03 Jun 2019 11:00:01 GMT", 1.0),
        ("Monday, 03-Jun-19 11:30:12 GMT", 1812.0),
        ("Mon Jun  3 12:00:00 2019", 3600.0),
        ("Mon, 3 Jun 2019 12:00:00 UTC", 3600.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DAY),
    ],
)
def test_seconds_and_dates_are_waits(value: str, wait: float) -> None:
    assert retry_after(value, 503, NOW, DAY) == wait


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "-1",
        "1.5",
        "1e3",
        "0x10",
        "1_000",
        "²",
        "٣٠",
        '"60"',
        "60;",
        "soon",
        "Sun, 31 Feb 2021 00:00:00 GMT",
    ],
)
def test_anything_else_leaves_it_to_the_own_backoff(value: str | None) -> None:
    assert retry_after(value, 503, NOW, DAY) is None


def test_it_says_something_only_where_the_request_did_not_succeed() -> None:
    assert [retry_after("5", status, NOW) for status in (200, 206, 301, 403, 413, 429, 503)] == [
        None,
        None,
        *[5.0] * 5,
    ]


def test_a_date_is_measured_against_the_clock_of_the_server() -> None:
    ten_minutes_ahead = format_http_date(NOW + 600)
    assert retry_after(format_http_date(NOW + 4200), 429, NOW, response_date=ten_minutes_ahead) == 3600


@given(
    st.text() | st.integers().map(str) | st.integers(0, 2**40).map(format_http_date),
    st.integers(-1, 1000),
    st.floats(),
    st.floats(0, 1e9),
    st.none() | st.text() | st.integers(0, 2**40).map(format_http_date),
)
def test_the_answer_is_bounded_and_nothing_raises(
    value: str, status: int, now: float, cap: float, sent: str | None
) -> None:
    wait = retry_after(value, status, now, cap, response_date=sent)
    assert wait is None or 0 <= wait <= cap
