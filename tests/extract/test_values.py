"""Text as typed values."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.extract.values import (
    BadValue,
    Money,
    read_boolean,
    read_date,
    read_decimal,
    read_integer,
    read_money,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4.5 out of 5", "4.5"),
        ("1,234", "1234"),
        ("1.234", "1.234"),
        ("1,234.5", "1234.5"),
        ("1.234,5", "1234.5"),
        ("1.234.567", "1234567"),
        ("1 234 567", "1234567"),
        ("1\u202f234,5", "1234.5"),
        ("12'500", "12500"),
        ("-5", "-5"),
        ("\u22125", "-5"),
        ("(12 reviews)", "12"),
        ("page-5", "5"),
        ("٣٫٥", "3.5"),
        (".5", "0.5"),
        ("0,125", "0.125"),
        ("45%", "45"),
        ("1e3", "1000"),
    ],
)
def test_numbers_as_people_write_them(text: str, value: str) -> None:
    assert read_decimal(text) == Decimal(value)


def test_the_field_may_say_which_mark_is_the_decimal_one() -> None:
    assert read_decimal("1.234", ",") == 1234
    assert read_decimal("1,234", ",") == Decimal("1.234")
    with pytest.raises(BadValue, match="more than once"):
        read_decimal("1,2,3", ",")


def test_whole_numbers_have_no_fraction_and_fit_into_64_bits() -> None:
    assert read_integer("1.234 pages") == 1234
    assert read_integer("22 available") == 22
    for text in ("4.5", "9223372036854775808", "1e999", "none"):
        with pytest.raises(BadValue):
            read_integer(text)


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("£51.77", "51.77", "GBP"),
        ("1.234,56 €", "1234.56", "EUR"),
        ("1.234 €", "1234", "EUR"),
        ("USD 12", "12", "USD"),
        ("12 USD", "12", "USD"),
        ("CHF 1'234.50", "1234.50", "CHF"),
        ("US$ 1,299", "1299", "USD"),
        ("A$5", "5", "AUD"),
        ("R$ 1.000,00", "1000", "BRL"),
        ("99 Kč", "99", "CZK"),
        ("1 234,50 zł", "1234.50", "PLN"),
        ("-£3.50", "-3.50", "GBP"),
        ("12,-", "12", None),
        ("Price: 12.50", "12.50", None),
        ("Forfait 30", "30", None),
        ("was £20 now £15", "20", "GBP"),
        ("0.12345", "0.1234", None),
    ],
)
def test_amounts_with_their_currency(text: str, amount: str, currency: str | None) -> None:
    assert read_money(text) == Money(Decimal(amount), currency)


def test_a_sign_of_several_currencies_means_what_the_field_says() -> None:
    assert read_money("$5").currency == "USD"
    assert read_money("$5", currency="CAD").currency == "CAD"
    assert read_money("€5", currency="CAD").currency == "EUR"
    assert read_money("5", currency="CAD").currency == "CAD"
    assert read_money("free", currency="EUR") == Money(Decimal(0), "EUR")


def test_amounts_that_the_column_cannot_hold_are_refused() -> None:
    for text in ("100000000000000", "1e30", "no price"):
        with pytest.raises(BadValue):
            read_money(text)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-12", "20240312", "2024-03-12T23:59:00-05:00", "2024-W11-2", "2024/3/12", "2024.03.12",
        "2024年3月12日", "12.3.2024", "12 March 2024", "12th of March 2024", "March 12th, 2024", "Mar 12, 2024",
        "Tuesday, 12 March 2024", "Tue, 12 Mar 2024 08:49:37 GMT", "12. März 2024", "12 mars 2024", "12 de marzo de 2024",
        "12 maart 2024", "Published: 2024-03-12 by A. Writer",
    ],
)  # fmt: skip
def test_dates_as_pages_write_them(text: str) -> None:
    assert read_date(text) == date(2024, 3, 12)


def test_a_date_that_may_be_two_days_is_refused_and_the_cure_named() -> None:
    with pytest.raises(BadValue, match="date_format"):
        read_date("03/04/2024")
    assert read_date("03/04/2024", "%d/%m/%Y") == date(2024, 4, 3)
    assert read_date("25/04/2024") == date(2024, 4, 25)
    assert read_date("04/25/2024") == date(2024, 4, 25)
    assert read_date("04/04/2024") == date(2024, 4, 4)


@pytest.mark.parametrize("text", ["", "soon", "31 February 2024", "2024-02-30", "12 Foo 2024", "99"])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(BadValue):
        read_date(text)


def test_truth_is_what_the_field_calls_so() -> None:
    yes = ("in stock", "instock")
    assert read_boolean("  In  STOCK ", yes)
    assert read_boolean("https://schema.org/InStock", yes)
    assert not read_boolean("Out of stock", yes)
    assert not read_boolean(None, yes)


@given(st.text(max_size=300))
def test_any_text_is_a_value_or_a_bad_value(text: str) -> None:
    for read in (read_decimal, read_integer, read_money, read_date):
        try:
            read(text)  # type: ignore[operator]
        except BadValue as fault:
            assert str(fault)


@given(
    st.decimals(min_value=0, max_value=10**10, places=2),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", ".")]),
)
def test_amounts_survive_every_way_of_grouping(value: Decimal, marks: tuple[str, str]) -> None:
    group, decimal = marks
    text = f"{value:,.2f}".replace(",", "\0").replace(".", decimal).replace("\0", group)
    assert read_money(f"€ {text}") == Money(value, "EUR")
    assert read_decimal(text, decimal) == value


@given(
    st.dates(min_value=date(1000, 1, 1)),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%Y/%m/%d"]),
)
def test_dates_survive_every_way_of_writing(day: date, form: str) -> None:
    assert read_date(f"on {day.strftime(form)}.") == day
