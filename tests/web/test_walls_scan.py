"""The one-pass scan over the wall patterns is a superset: whatever a pattern finds, the scan names it."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.web.css import css
from resources.web.html_document import parse_html
from resources.web.walls import judge, phrases
from resources.web.walls.expression import Expression
from resources.web.walls.header_marks import BLOCK_HEADERS, LOCATION_MARKS
from resources.web.walls.markers import DATA_MARKS, STRONG_MARKS, WIDGETS
from resources.web.walls.page import _HIDDEN, normal, parse_page
from resources.web.walls.phrases import SENTENCES, TITLES
from resources.web.walls.quick import TITLE_SCAN
from resources.web.walls.raw_marks import Glance, glance
from resources.web.walls.scan import Scan
from resources.web.walls.signs import _NO_RESULTS, _QUOTED

EXPRESSIONS = [mark.pattern for mark in (*STRONG_MARKS, *WIDGETS)] + [phrase.pattern for phrase in SENTENCES]
PATTERNS = [expression.compiled() for expression in EXPRESSIONS]
SCAN = Scan(PATTERNS)


@pytest.mark.parametrize("number", range(len(PATTERNS)), ids=lambda n: PATTERNS[n].pattern[:30])
@settings(max_examples=5, deadline=None)
@given(data=st.data(), before=st.text(max_size=5), after=st.text(max_size=5))
def test_what_a_pattern_finds_is_a_candidate(
    number: int, data: st.DataObject, before: str, after: str
) -> None:
    text = before + data.draw(st.from_regex(PATTERNS[number])) + after
    if PATTERNS[number].search(text):
        assert number in SCAN.candidates(text)


def test_boundaries_and_classes_beyond_ascii() -> None:
    patterns = [re.compile(p, re.I) for p in (r"\bétage\b", r"\w+ь\s\d", r"[\w-]+é", r"a(?!b)", r"[^\s]x")]
    scan = Scan(patterns)
    for text in ("un étage", "день 3", "à-é", "ac", "éx", "день\u00a0٣"):
        for number, pattern in enumerate(patterns):
            if pattern.search(text):
                assert number in scan.candidates(text), (text, pattern.pattern)


def test_an_ordinary_text_has_hardly_any_candidates() -> None:
    assert len(SCAN.candidates("A book about the sea, in good condition. Price: 12.30 EUR")) <= len(
        SCAN.unscanned
    )


IN_TAGS = [mark for mark in (*STRONG_MARKS, *WIDGETS) if mark.zone in ("source", "script", "name", "comment")]


@pytest.mark.parametrize("number", range(len(IN_TAGS)), ids=lambda n: IN_TAGS[n].pattern.pattern[:30])
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_glance_at_the_body_misses_no_mark_of_its_tree(number: int, data: st.DataObject) -> None:
    mark = IN_TAGS[number]
    drawn = data.draw(st.from_regex(mark.pattern.compiled()))
    value = drawn[1:] if mark.zone == "name" else drawn.partition(" ")[2] or drawn
    value = html.escape(value) if mark.zone != "script" else value
    body = {
        "name": f'<p id="{value}" class="{value}" data-translate="{value}">',
        "source": f'<img src="{value}"><iframe src="{value}"></iframe><script src="{value}"></script><form action="{value}">',
        "script": f"<script>{value}</script>",
        "comment": f"<!--{value}-->",
    }[mark.zone]
    page = parse_page(body, None, seen=Glance(True, True, ()), detailed=True)
    zones = {
        "name": "\n".join(page.names), "source": "\n".join(page.sources), "script": page.script, "comment": page.comments,
    }  # fmt: skip
    if mark.pattern.search(zones[mark.zone]):
        assert glance(body.encode("utf-8", "replace")).marks


@pytest.mark.parametrize(
    "body", ["<p id=px&#45;captcha>", "<p id=px&#x2D;captcha>", "<img src='&sol;sorry/'>"]
)
def test_a_mark_may_hide_behind_references(body: str) -> None:
    assert glance(body.encode()).marks


def test_a_glance_says_what_is_there() -> None:
    assert glance(b"<p>&quot;Tea&#39;s ready&#160;&mdash; &#8217;") == Glance(False, False, ())
    assert glance(b"<PRE hidden>x</pre><script>") == Glance(False, True, ("script", "pre"))
    assert glance("<p>Tee für zwei".encode()) == Glance(False, False, ())


@settings(max_examples=400)
@given(
    st.lists(
        st.sampled_from(
            [
                "<p", "<b ", "<body ", ">", "/", "=", '"', "'", " ", "\n", "\f", "x", "aria-", "a=b", 'a="c"', "hidden", "HIDDEN",
                "style", "Style", "style=", 'style="', "style = '", "display:none", "display: none", "a:b;visibility:hidden",
                "&#100;isplay:none", "displa&#x79;:none", "display&colon;none", "&quot;", ";",
            ]
        ),
        max_size=14,
    ).map("".join)
)  # fmt: skip
def test_a_glance_misses_no_hidden_element(body: str) -> None:
    if css(parse_html(body), _HIDDEN):
        assert glance(body.encode()).hiding


def test_what_stands_behind_a_line_break_in_an_address_begins_no_line() -> None:
    body = '<img src="/x.png\nform index"><form action="&#10;form index">'
    page = parse_page(body, None, seen=Glance(True, True, ()), detailed=True)
    assert len("\n".join(page.sources).split("\n")) == len(page.sources) == 2


@pytest.mark.parametrize("status", [404, 410])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('<title>x</title><p class="cf-error-code">1020</p>', "hard_block"),
        ("<p>error code: 1015", "rate_limit"),
        ('<script src="https://ct.captcha-delivery.com/i.js"></script>', "challenge"),
        ("<title>x</title><p>1020</p>", "not_found"),
    ],
)
def test_a_page_that_is_not_there_may_still_be_a_vendors(status: int, body: str, kind: str) -> None:
    verdict = judge(status, [("content-type", "text/html")], body.encode(), "https://shop.example/x")
    assert (verdict.kind, verdict.blocked) == (kind, kind != "not_found")


#: As the rule is said: 15 characters and more in quotation marks, an apostrophe within a word none.
_QUOTED_AS_SAID = re.compile(
    r"[\"„][^\"„]{15,300}\"|[«»][^«»]{15,300}[«»]|「[^「」]{8,300}」|(?<!\w)'[^']{15,300}'(?!\w)"
)


@given(
    st.lists(st.sampled_from([*"\"„«»「」'a. ", "words of a page ", "it's", "é"]), max_size=40).map("".join)
)
def test_quotations_are_found_as_the_rule_is_said(text: str) -> None:
    assert _QUOTED.sub(" ", text) == _QUOTED_AS_SAID.sub(" ", text)


@given(
    st.lists(
        st.lists(
            st.sampled_from(
                [
                    "just",
                    "a",
                    "moment",
                    "access",
                    "denied",
                    "page",
                    "not",
                    "found",
                    "404",
                    "error",
                    "of",
                    "the",
                    "shop",
                    "|",
                    "-",
                ]
            ),
            max_size=5,
        )
        .map(" ".join)
        .map(normal),
        min_size=1,
        max_size=5,
    )
)
def test_lines_of_titles_are_scanned_at_once_as_each_by_itself(lines: list[str]) -> None:
    each = {number for line in lines for number in TITLE_SCAN.candidates(line)}
    together = set(TITLE_SCAN.candidates("\n".join(lines)))
    assert each <= together
    whole = {n for n in together if any(TITLES[n].pattern.fullmatch(line) for line in lines)}
    assert whole == {n for n in each if any(TITLES[n].pattern.fullmatch(line) for line in lines)}


def test_every_expression_of_the_tables_can_be_compiled() -> None:
    """They are compiled where they are first searched for: a mistake in one would be told by a crawl."""
    tables = [*EXPRESSIONS, *(phrase.pattern for phrase in TITLES)]
    tables += [pattern for _, pattern, _, _ in BLOCK_HEADERS]
    tables += [pattern for pattern, _, _ in (*LOCATION_MARKS, *DATA_MARKS)]
    alone = [each for each in vars(phrases).values() if isinstance(each, Expression)]
    for expression in (*tables, *alone, _NO_RESULTS):
        assert expression.compiled().pattern == expression.pattern
        assert expression.compiled() is expression.compiled()
