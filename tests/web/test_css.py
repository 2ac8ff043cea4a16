"""One engine for all trees answers as each tree's own would."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from resources.web.css import css, css_first

_PAGES = [f"<ul>{'<li class=x><a href=/{n}>l</a>' * n}</ul><h1>t{n}" for n in range(5)]
_SELECTORS = ("a[href],li", "li:has(a)", "h1", "html", "*", 'link[rel~="canonical" i]', "table > tr")


@pytest.mark.parametrize("selector", _SELECTORS)
def test_the_same_elements_in_the_same_order(selector: str) -> None:
    trees = [LexborHTMLParser(page) for page in _PAGES]
    for tree in [*trees, *reversed(trees)]:  # its memory of one document must not reach another
        own = [node.mem_id for node in tree.css(selector)]
        assert [node.mem_id for node in css(tree, selector)] == own
        first = css_first(tree, selector)
        assert (first.mem_id if first is not None else None) == (own[0] if own else None)


def test_below_an_element_and_in_its_own_document() -> None:
    tree = LexborHTMLParser("<div><p>a</div><p>b")
    (div,) = css(tree, "div")
    (inner,) = css(div, "p")
    assert inner.text() == "a"
    assert css_first(div, "h1") is None
    del tree, div
    assert inner.text() == "a"  # an element keeps its document


def test_what_is_no_selector_is_told_and_harms_no_later_one() -> None:
    tree = LexborHTMLParser("<p>a")
    with pytest.raises(SelectolaxError):
        css(tree, "p[[")
    assert [node.text() for node in css(tree, "p")] == ["a"]
    assert css(LexborHTMLParser(""), "p") == []
