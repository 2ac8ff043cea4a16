"""The fast look at large markup lets nothing through that the pass over all tags would cut."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from resources.web import nesting_bound
from resources.web.closed_pairs import cheap_without_pairs
from resources.web.nesting_bound import affordable_end

NAMES = [
    "div", "p", "li", "ul", "b", "i", "font", "span", "table", "td", "tr", "select", "option", "optgroup", "svg", "g", "math",
    "button", "template", "script", "style", "title", "a", "br", "h2", "abcdefgh", "abcdefghi", "abcdefghijklmnop",
    "x-very-long-name-of-an-element", "X-VERY-LONG-NAME-OF-AN-ELEMENT",
]  # fmt: skip
OTHERS = [
    "text ", "<!-- ", " -->", " --!>", "<!-->", "<![CDATA[", "]]>", "<?x ", "</3 ", "<! ", ">", "<", "</", "<3", "\0",
    "</SCRIPT\t>", "<b id=1>", "<b id=2>", "<i x=y\n>", "<div a='</div>'>", '<div a=">">', "<div\v>", "<p/>", "</p a=b>",
    "<div", "</div", "ü<\xa0>",
]  # fmt: skip
tags = st.one_of(
    st.sampled_from(NAMES).map(lambda name: f"<{name}>"),
    st.sampled_from(NAMES).map(lambda name: f"</{name}>"),
    st.sampled_from(OTHERS),
)


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Something within an element that is closed, as most markup is."""
    return st.tuples(st.sampled_from(NAMES), st.lists(inner, max_size=4).map("".join)).map(
        lambda each: f"<{each[0]}>{each[1]}</{each[0]}>"
    )


markups = st.lists(st.recursive(tags, nested, max_leaves=12), max_size=8).map("".join)


@settings(deadline=None, max_examples=300)
@given(markups, st.integers(1, 30), st.integers(0, 300), st.integers(0, 100))
@example("<b><b><b><b></b></b></b></b><p>", 30, 300, 100)
def test_what_is_let_through_is_affordable(markup: str, times: int, work: int, copied: int) -> None:
    octets = (markup * times).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting_bound, "WORK_BUDGET", work * times)
        patch.setattr(nesting_bound, "COPY_BUDGET", copied * times)
        if cheap_without_pairs(octets):
            assert affordable_end(octets) is None


CLOSED = {
    "an index": "<ul>" + "<li><a href=x>one</a><ul><li><a href=y>two</a></li></ul></li>" * 30_000 + "</ul>",
    "a table": "<table>" + "<tr><td><p>a</p></td><td><b>c</b></td></tr>" * 30_000 + "</table>",
    "with comments": "<div>" + "<p>a<!-- b --></p><script>if (a < b) {}</script>" * 9_000 + "</div>",
    "end tags left out": "<ul>" + "<li><span>a</span><div><b>c</b></div>" * 20_000 + "</ul>",
    "values that hold brackets": "<div>" + "<p title='a>b'>a<i>c</i></p>" * 15_000 + "</div>",
    "in capitals": "<UL>" + "<LI><B>c</B></li>" * 30_000 + "</UL>",
}


@pytest.mark.parametrize("what", CLOSED)
def test_large_pages_that_close_their_tags_pass_at_once(what: str) -> None:
    assert cheap_without_pairs(CLOSED[what].encode())


def test_what_is_never_closed_does_not_pass() -> None:
    assert not cheap_without_pairs(b"<div>" * 60_000)
    assert not cheap_without_pairs(b"<div><!-- </div> -->" * 60_000)
    assert not cheap_without_pairs(b"<script>" + b"<div></div>" * 60_000 + b"</script>")


def test_nothing_is_too_short() -> None:
    for markup in (b"", b"<", b"</", b"<a", b"x", b"<!", b"<b>"):
        assert cheap_without_pairs(markup)
