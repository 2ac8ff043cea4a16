"""Durations, rates, sizes, patterns and seed ranges as people write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.site.patterns import PatternSet, UrlPattern
from resources.site.quantities import format_duration, parse_bytes, parse_duration, parse_rate
from resources.site.seeds import SeedError, expand


@pytest.mark.parametrize(
    ("text", "seconds"),
    [(30, 30), ("30", 30), ("15m", 900), ("1d 12h", 129_600), ("500ms", 0.5), ("2w", 1_209_600), (0, 0), ("1.5h", 5400)],
)  # fmt: skip
def test_duration(text: object, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["soon", "-1", -1, True, "5 parsecs", "inf", "1h and a bit", "", "1m30"])
def test_no_duration(text: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@given(st.integers(0, 10**7))
def test_durations_are_written_as_they_are_read(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "rate"),
    [("auto", None), (None, None), ("unlimited", math.inf), (2, 2), ("2/s", 2), ("30/min", 0.5), ("1/5s", 0.2), ("86400/d", 1)],
)  # fmt: skip
def test_rate(text: object, rate: float | None) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize("text", [0, -1, "0/s", "fast", True, "1/0s", "nan", "inf"])
def test_no_rate(text: object) -> None:
    with pytest.raises(ValueError):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "size"), [(7, 7), ("200 kB", 200_000), ("20MB", 20_000_000), ("1 GiB", 2**30), ("5", 5)]
)
def test_bytes(text: object, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("/book/*", "https://a.example/book/1?x=2", True),
        ("/book/*", "https://a.example/books", False),
        ("/book", "https://a.example/books", True),
        ("/book$", "https://a.example/books", False),
        ("*.pdf$", "https://a.example/x/y.pdf", True),
        ("*.pdf$", "https://a.example/y.pdf?z", False),
        ("/*?page=*", "https://a.example/list?page=2", True),
        ("https://a.example/*", "https://b.example/", False),
        ("https://a.example/*", "https://a.example/x", True),
        (r"re:^/p/\d+$", "https://a.example/p/12", True),
        (r"re:^/p/\d+$", "https://a.example/p/x", False),
        (r"re:^https?://a\.", "http://a.example/", True),
        ("/a.b", "https://a.example/axb", False),
    ],
)
def test_url_pattern(pattern: str, url: str, matches: bool) -> None:
    assert UrlPattern(pattern).matches(url) is matches


def test_the_first_pattern_that_matches_is_named() -> None:
    patterns = PatternSet(["/a/*", "/*"])
    assert patterns.first("https://x.example/a/b") == "/a/*"
    assert patterns.first("https://x.example/b") == "/*"
    assert PatternSet([]).first("https://x.example/") is None


def test_no_pattern_takes_exponential_time() -> None:
    assert not UrlPattern(r"re:^(/a+)+$").matches("https://x.example" + "/a" * 20_000 + "!")
    assert not UrlPattern("/" + "*a" * 30 + "b$").matches("https://x.example/" + "a" * 20_000)


def test_ranges() -> None:
    assert list(expand("https://a.example/{1..3}")) == [f"https://a.example/{n}" for n in (1, 2, 3)]
    assert list(expand("/{08..11}")) == ["/08", "/09", "/10", "/11"]
    assert list(expand("/{3..1}")) == ["/3", "/2", "/1"]
    assert list(expand("/{0..100..50}")) == ["/0", "/50", "/100"]
    assert len(list(expand("/{2020..2026}/{01..12}"))) == 84
    assert list(expand("/{a..b}")) == ["/{a..b}"]


@pytest.mark.parametrize("seed", ["/{1..10000001}", "/{1..2000}/{1..2000}", "/{1..5..0}"])
def test_ranges_that_are_mistakes(seed: str) -> None:
    with pytest.raises(SeedError):
        list(expand(seed))
