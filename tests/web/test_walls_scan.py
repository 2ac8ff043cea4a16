"""The one-pass scan over the wall patterns is a superset: whatever a pattern finds, the scan names it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.web.walls.markers import STRONG_MARKS, WIDGETS
from resources.web.walls.phrases import SENTENCES
from resources.web.walls.scan import Scan

PATTERNS = [mark.pattern for mark in (*STRONG_MARKS, *WIDGETS)] + [phrase.pattern for phrase in SENTENCES]
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
