"""Clearing a page early changes no verdict: what it overlooks, nothing else would have found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.web.walls import clearing, judge, verdict
from resources.web.walls.clearing import DECIDING, MAY_HOLD_MARK, MAY_SAY, may_quote
from resources.web.walls.expression import Expression
from resources.web.walls.gaps import pieces
from resources.web.walls.markers import STRONG_MARKS
from resources.web.walls.page import normal
from resources.web.walls.phrases import JS_REQUIRED, SENTENCES, TITLES
from resources.web.walls.piece_table import PIECES
from resources.web.walls.pieces import Pieces
from resources.web.walls.quick import MAY_TITLE
from resources.web.walls.signs import ENOUGH, NO_RESULTS, NO_RESULTS_WEIGHT, QUOTED

PROSE = "The lake lies between two hills and freezes late in the year. Children skate on it. "
TEXT_MARKS = [mark.pattern for mark in STRONG_MARKS if mark.zone == "text"]
SENTENCE_PATTERNS = [phrase.pattern for phrase in SENTENCES]
TITLE_PATTERNS = [phrase.pattern for phrase in TITLES]


def _written(text: str, blank: str, ways: int) -> str:
    """`text` as a page may write it: other blanks, apostrophes and cases, which `normal` takes for the same."""
    text = text.replace(" ", blank)
    if ways & 1:
        text = text.upper()
    if ways & 2:
        text = text.replace("'", "’").replace('"', "“").replace("-", "‑")
    return text


@pytest.mark.parametrize(
    ("pattern", "at_words"),
    [(each, True) for each in SENTENCE_PATTERNS]
    + [(each, False) for each in (*TEXT_MARKS, NO_RESULTS, JS_REQUIRED)],
    ids=lambda value: value.pattern[30:60] if isinstance(value, Expression) else str(value),
)
@settings(max_examples=8, deadline=None)
@given(data=st.data(), before=st.text(max_size=5), after=st.text(max_size=5))
def test_what_is_found_in_the_normal_text_is_never_missed(
    pattern: Expression, at_words: bool, data: st.DataObject, before: str, after: str
) -> None:
    drawn = data.draw(st.from_regex(pattern.compiled()))
    blank = data.draw(st.sampled_from([" ", "  ", "\n\t", "\xa0", "\u2003 "]))
    text = before + _written(drawn, blank, data.draw(st.integers(0, 3))) + after
    if pattern.search(normal(text)):
        found = Pieces([], at_words=[pattern]) if at_words else Pieces([pattern])
        assert found.found(text)


@pytest.mark.parametrize("number", range(len(TITLE_PATTERNS)))
@settings(max_examples=8, deadline=None)
@given(data=st.data(), other=st.sampled_from(["", " | Shop", " - Shop", "· x", " :: x"]))
def test_no_title_of_a_wall_is_missed(number: int, data: st.DataObject, other: str) -> None:
    drawn = data.draw(st.from_regex(TITLE_PATTERNS[number].compiled(), fullmatch=True))
    segment = _written(drawn, " ", data.draw(st.integers(0, 3)))
    if TITLE_PATTERNS[number].fullmatch(normal(segment)):
        assert MAY_TITLE.found(segment + other)
        assert MAY_TITLE.found(other[::-1] + segment)


def test_every_letter_of_the_tables_is_known_in_both_cases() -> None:
    letters = set("".join(each.pattern for each in (*SENTENCE_PATTERNS, *TITLE_PATTERNS, *TEXT_MARKS)))
    known = {letter: Pieces([re.compile(re.escape(letter))]) for letter in letters if letter.isalpha()}
    for number in range(0x110000):
        lower = chr(number).lower()
        if lower != chr(number) and lower[0] in known:
            assert known[lower[0]].found(chr(number)), chr(number)


@pytest.mark.parametrize("pattern", [".*", "a|.{3}", "(?:a|.)b?", "(x|y)*", r"\S+ ?"])
def test_a_pattern_that_any_text_may_hold_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="without gaps"):
        pieces(pattern)


def test_a_piece_is_the_longest_stretch_without_gaps() -> None:
    assert pieces("one.{0,9}three|four") == ([], ["three", "four"])
    assert pieces("(a|bc)d+ef")[1] == ["ad", "bcd"] or pieces("(a|bc)d+ef")[1] == ["def", "def"]
    assert pieces("verify.{0,9}yourself", at_words=True) == ([], ["yourself"])
    assert pieces("verifying.{0,9}yourself", at_words=True) == (["verifying"], [])


def test_what_is_written_down_of_the_tables_is_what_they_say() -> None:
    for each in (MAY_TITLE, MAY_SAY, MAY_HOLD_MARK):
        assert PIECES.get(each.digest) == each.read(), "python -m resources.web.walls.gaps"
    assert len(PIECES) == 3


def test_no_kind_gets_enough_points_by_the_sentences_that_are_left_out() -> None:
    points: dict[str, int] = {}
    for kind, weight, pattern in (
        *((phrase.kind, phrase.weight, phrase.pattern) for phrase in SENTENCES),
        ("soft_404", NO_RESULTS_WEIGHT, NO_RESULTS),
    ):
        if pattern not in DECIDING:
            points[kind] = points.get(kind, 0) + weight
    assert points
    assert max(points.values()) < ENOUGH


@given(
    st.lists(st.sampled_from([*"\"„“”«»「」'’ʼa… \n", "words of a page ", "it's", "é"]), max_size=40).map(
        "".join
    )
)
def test_no_quotation_is_missed(text: str) -> None:
    if QUOTED.search(normal(text)):
        assert may_quote(text)


def _part(kind: str, text: str) -> str:
    return {
        "title": f"<title>{text}</title>",
        "heading": f"<h2>{text}</h2>",
        "said": f"<p>{text}</p>",
        "quoted": f"<p>He said “{text}” to me</p>",
        "glued": f'you"{text}"have been blocked ',
        "hidden": f"<div hidden>{text}</div>",
        "code": f"<pre><code>{text}</code></pre>",
        "noscript": f"<noscript>{text}</noscript>",
        "script": f"<script>{text}</script>",
        "svg": f"<svg><title>{text}</title></svg>",
        "name": f'<div class="{text}" id="{text}">x</div>',
        "prose": PROSE * (len(text) % 40),
    }[kind]


SAID = st.sampled_from(
    [
        "Just a moment...", "Please log in", "Page not found", "Access denied", "403", "We value your privacy",
        "Your IP address 192.0.2.1 has been blocked", "You have been blocked", "Verify you are human",
        "Please verify you are human", "The page you requested was not found", "No results for lakes",
        "Scheduled maintenance", "We'll be back soon", "Accept all cookies", "This domain is for sale",
        "Not available in your country", "Please enable JavaScript", "error code: 1020", "cf-error-code", "px-captcha",
        "cf-turnstile", "window._cf_chl_opt", "Generated by Wordfence", "Reference #18.2d351ab8.1557333295.a4e16ab",
        "Vercel Security Checkpoint", "ACCESS İS DENİED", "The status code indicates that the server sends",
        "a short word", "",
    ]
)  # fmt: skip
PARTS = st.sampled_from(
    ["title", "heading", "said", "said", "quoted", "glued", "hidden", "code", "noscript", "script", "svg", "name", "prose"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(PARTS, SAID), max_size=5),
    st.sampled_from([0, 30, 40, 90, 240, 300, 320, 1490, 1520, 2990, 3100, 6100]),
    st.sampled_from([200, 200, 203, 247, 403, 404, 410, 429, 503]),
    st.sampled_from(["/a/page", "/login", "/search?q=lakes", "/cookie-wall/", "/sorry/index?x"]),
)
def test_clearing_a_page_changes_no_verdict(
    parts: list[tuple[str, str]], length: int, status: int, path: str
) -> None:
    shown = (PROSE * (length // len(PROSE) + 1))[:length]
    body = "".join(_part(*part) for part in parts) + f"<p>{shown}"
    given = (status, [("content-type", "text/html")], body.encode(), "https://site.example" + path)
    verdicts = [judge(*given)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdict, "no_wall", lambda *_: False)
        patch.setattr(verdict, "no_mark", lambda *_: False)
        verdicts.append(judge(*given))
    assert verdicts[0] == verdicts[1]


@pytest.mark.parametrize(("status", "kind"), [(200, "ok"), (404, "not_found")])
def test_an_ordinary_page_is_cleared_before_anything_is_counted(
    status: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the page's features were collected")

    monkeypatch.setattr(verdict, "page_of", fail)
    body = f"<title>The lake</title><h1>The lake</h1><p>{PROSE * 8}“{PROSE}” said Ana.</p>"
    assert judge(status, [("Content-Type", "text/html")], body, "https://site.example/a").kind == kind
    assert clearing.DECIDING
