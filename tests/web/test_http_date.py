"""HTTP-date: what is read, what is refused, and that nothing raises."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.http_date import format_http_date, parse_http_date

NOV_1994 = 784111777.0


def at(year: int, month: int = 1, day: int = 1) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "\t Sun, 06 Nov 1994 08:49:37 GMT ",
        "Mon, 06 Nov 1994 08:49:37 GMT",  # the wrong weekday
    ],
)
def test_three_forms_name_the_same_moment(text: str) -> None:
    assert parse_http_date(text, at(2026)) == NOV_1994


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "Sun, 06 Nov 1994 08:49:37 gmt",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 31 Feb 2021 00:00:00 GMT",
        "Mon, 01 Jan 0001 00:00:00 GMT",
        "Sun, 0\u0666 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT\n",
        "Sun Nov 06 1994 08:49:37",
    ],
)
def test_what_the_grammar_does_not_say_is_no_date(text: str) -> None:
    assert parse_http_date(text) is None


def test_a_leap_second_is_the_first_of_the_next_minute() -> None:
    assert parse_http_date("Wed, 31 Dec 2008 23:59:60 GMT") == at(2009)


@pytest.mark.parametrize(
    ("digits", "now", "year"),
    [
        ("26", at(2022), 2026),
        ("99", at(2022), 1999),
        ("50", at(2022), 2050),
        ("72", at(2022), 1972),  # November 2072 is more than 50 years after January 2022
        ("72", at(2022, 12), 2072),
        ("05", at(1999), 2005),
        ("69", None, 2069),
        ("70", None, 1970),
        ("94", float("inf"), 1994),
    ],
)
def test_two_digit_years_lie_at_most_fifty_years_ahead(digits: str, now: float | None, year: int) -> None:
    got = parse_http_date(f"Sunday, 06-Nov-{digits} 00:00:00 GMT", now)
    assert got == at(year, 11, 6)


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 6 Nov 1994 08:49:37 UTC",
        "sun, 06 nov 1994 08:49:37 gmt",
        "06-Nov-1994 08:49:37",
        "1994 Nov 6 08:49:37",
        "Sun, 06 Nov 1994 10:49:37 +0200",
        "Sun, 06 Nov 1994 00:49:37 PST",
    ],
)
def test_careless_dates_are_read_only_on_request(text: str) -> None:
    assert parse_http_date(text) is None
    assert parse_http_date(text, lenient=True) == NOV_1994


@pytest.mark.parametrize("text", ["30 Feb 2024 12:00 GMT", "1994-11-06T08:49:37Z", "June", "-1", "20240230"])
def test_the_lenient_reader_refuses_days_that_do_not_exist_and_other_formats(text: str) -> None:
    assert parse_http_date(text, lenient=True) is None


@given(st.integers(int(at(1583)), 253402300799))
def test_what_is_written_reads_back(epoch: int) -> None:
    text = format_http_date(epoch)
    assert len(text) == 29
    assert parse_http_date(text) == epoch == parse_http_date(text, lenient=True)


@given(st.floats(allow_nan=False))
def test_every_number_has_a_date(epoch: float) -> None:
    assert format_http_date(epoch).endswith(" GMT")


def test_a_nan_has_none() -> None:
    with pytest.raises(ValueError, match="NaN"):
        format_http_date(float("nan"))


WORDS = (
    "Sun",
    "Monday",
    "Nov",
    "jan",
    "06",
    "6",
    "1994",
    "94",
    "08:49:37",
    "GMT",
    "+0200",
    "-9999",
    "20110623",
)
PIECES = st.sampled_from([*WORDS, "0001", ",", "-", "(", "J", "٣", " ", "  "])


@given(st.text() | st.lists(PIECES, max_size=9).map(" ".join), st.none() | st.floats())
def test_no_text_and_no_clock_raises(text: str, now: float | None) -> None:
    for lenient in (False, True):
        assert parse_http_date(text, now, lenient=lenient) is None or isinstance(
            parse_http_date(text, now, lenient=lenient), float
        )
