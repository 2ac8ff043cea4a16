"""The page and the Markdown of a night: complete, safe against what sites put into them, and the same facts."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from resources.planner.forecast import Comparison, DomainComparison
from resources.reports.charts import Series, compact, time_chart
from resources.reports.facts import (
    Bucket,
    DomainNight,
    ErrorClass,
    Fallen,
    Finding,
    NightFacts,
    NightTotal,
    QueuePoint,
    RunFacts,
    TableChange,
)
from resources.reports.markdown import night_markdown, sparkline
from resources.reports.needs import needs
from resources.reports.page import headline, night_page

START = 1795914000.0
QUIET = NightFacts(
    "2026-11-29",
    made_at=START + 4000,
    started_at=START,
    ended_at=START + 3600,
    runs=(RunFacts("3fb1c0de-1", "night", "SUCCESS", START, START + 3600, 2),),
    buckets=tuple(Bucket(START + 60 * n, 100 + n, 90) for n in range(60)),
    queue=(QueuePoint(START, 900), QueuePoint(START + 3600, 0)),
    domains=(
        DomainNight("a.example", requests=1_000, pages=900, unchanged=800, rate=2.5),
        DomainNight("b.example", requests=10, pages=10),
    ),
    tables=(TableChange("pages", 900, 910, 12, 40, 2), TableChange("links", 9_000, 9_100)),
)
HURT = replace(
    QUIET,
    fallen=(Fallen("b.example", "check canary", "them: a wall", "Open the URL in a browser."),),
    findings=(
        Finding("a.example", "coverage", "80 % of the listed URLs", "Raise the budget."),
        Finding("b.example", "coverage", "not told: the domain fell", "Raise the budget."),
    ),
    errors=(ErrorClass("http_500", 30, 1, 4, "The server failed."),),
    history=(NightTotal("2026-11-28", 900, 3), NightTotal("2026-11-29", 1_010, 0)),
)


class Balance(HTMLParser):
    """Every element that is opened is closed, in order."""

    VOID = frozenset({"meta", "line", "rect", "polyline", "polygon"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in self.VOID or (tag == "rect" and 'class="tip"' in (self.get_starttag_text() or "")):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_quiet_night_says_so() -> None:
    assert headline(QUIET) == ("All 2 domains went through; nothing needs you urgently.", True)
    assert needs(QUIET) == []
    page = night_page(QUIET)
    assert "Nothing. Every domain is fresh and published." in page
    assert "1,010" in page and "12 / 40" in page


def test_what_needs_a_human_comes_first_with_its_cure() -> None:
    first, second = needs(HURT)
    assert (first.urgency, first.title, first.domains) == (
        "act",
        "failed: check canary",
        (("b.example", "them: a wall"),),
    )
    assert (second.urgency, second.domains) == ("look", (("a.example", "80 % of the listed URLs"),))
    assert headline(HURT)[0] == "1 of 2 domains went through; 1 needs you, for 1 cause."
    for text in (night_page(HURT), night_markdown(HURT)):
        assert text.index("Open the URL in a browser.") < text.index("http_500")


def test_a_stopped_night_is_told_until_it_has_gone_on() -> None:
    (need,) = needs(replace(QUIET, stopped=("a.example",)))
    assert (need.urgency, need.title) == ("act", "stopped before its end")
    assert headline(replace(QUIET, stopped=("a.example",)))[0].startswith("1 of 2 domains went through")


def test_a_night_that_still_runs_says_so() -> None:
    going = replace(QUIET.runs[0], status="STARTED")
    assert [n.title for n in needs(replace(QUIET, runs=(going,)))] == ["still under way"]


def test_a_lost_run_that_names_nobody_is_told() -> None:
    lost = replace(QUIET.runs[0], status="FAILURE")
    assert [n.urgency for n in needs(replace(QUIET, runs=(lost,)))] == ["act"]


def test_paused_and_stale_domains_need_somebody() -> None:
    paused = replace(QUIET.domains[0], paused_cause="429")
    stale = replace(QUIET.domains[1], stale=True, stale_reason="row_drop in pages")
    assert {n.title for n in needs(replace(QUIET, domains=(paused, stale)))} == {
        "paused by pacing",
        "readers see an earlier night",
    }


def test_a_late_night_and_a_wrong_forecast_are_looked_at() -> None:
    row = DomainComparison("a.example", 10, 1_000, 5.0, 900.0, "1,000 requests, more than the 10 planned")
    late = Comparison((row,), 10, 1_010, 0, 0, START + 60, START + 3600, START + 1800, 0)
    facts = replace(QUIET, comparison=late)
    assert [n.title for n in needs(facts)] == ["ready too late", "the forecast was off"]
    assert "missed" in night_page(facts)


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    page = night_page(HURT)
    tags = Balance(page).seen
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(tags)
    assert not re.search(r"https?://|url\(|@import|javascript:", page)
    assert "default-src 'none'" in page


@given(st.text(max_size=60))
def test_nothing_a_site_says_becomes_markup(words: str) -> None:
    evil = f"{words}</title><script>alert(1)</script>\"'<img src=x onerror=y>"
    facts = replace(
        HURT,
        night=evil,
        domains=(replace(HURT.domains[0], domain=evil, stale=True, stale_reason=evil),),
        fallen=(Fallen(evil, evil, evil, evil),),
        errors=(ErrorClass(evil, 1, 1, 0, evil),),
        runs=(replace(HURT.runs[0], run_id=evil, job=evil, link="javascript:alert(1)"),),
    )
    page = night_page(facts)
    assert "<script" not in page and "<img" not in page and "javascript:" not in page
    assert night_markdown(facts)


def test_links_to_runs_are_kept_where_the_ui_is_known() -> None:
    linked = replace(QUIET.runs[0], link="http://127.0.0.1:3000/runs/3fb1c0de-1")
    assert '<a href="http://127.0.0.1:3000/runs/3fb1c0de-1">' in night_page(replace(QUIET, runs=(linked,)))


def test_five_thousand_domains_stay_a_page() -> None:
    many = tuple(DomainNight(f"d{n}.example", requests=n, pages=n) for n in range(5_000))
    fallen = tuple(Fallen(d.domain, "fetched_pages", "down", "wait") for d in many[:2_000])
    page = night_page(replace(QUIET, domains=many, fallen=fallen))
    assert len(page) < 120_000 and "and 4,960 more" in page and "and 1,992 more" in page


# -- charts ------------------------------------------------------------------------------------------
@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=90), st.booleans())
@example([5e-324], False)
def test_every_point_is_drawn_inside_the_chart(values: list[float], stacked: bool) -> None:
    times = [START + 60.0 * i for i in range(len(values))]
    drawn = time_chart("x", times, [Series("x", "c1", values)], stacked=stacked)
    Balance(drawn)
    for x, y in re.findall(r"([\d.]+),([\d.]+)", " ".join(re.findall(r'points="([^"]*)"', drawn))):
        assert 0 <= float(x) <= 340 and 0 <= float(y) <= 150


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (7, "7"),
        (0.25, "0.25"),
        (2.5, "2.5"),
        (1234, "1234"),
        (12_345, "12k"),
        (3.4e6, "3.4M"),
        (2e9, "2.0G"),
    ],
)
def test_numbers_on_an_axis_are_short(number: float, text: str) -> None:
    assert compact(number) == text


@given(st.lists(st.floats(0, 1e9), max_size=500))
def test_a_sparkline_is_as_wide_as_asked_at_most(values: list[float]) -> None:
    assert len(sparkline(values)) == min(48, len(values))
