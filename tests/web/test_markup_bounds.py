"""Where markup is cut before the parser sees it: hostile shapes are, whatever hides them; honest ones never."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.web import html_document
from resources.web.attribute_bound import SMALL, affordable_attributes
from resources.web.html_document import MAX_MARKUP, bounded, cut_of, parse_and_tell

MANY = 60_000
DEEP = 60_000


def each(form: str, count: int = MANY, between: str = " ") -> bytes:
    return between.join(form % n for n in range(count)).encode()


HIDDEN = {
    "plain": each("a%d=1"),
    "without values": each("a%d"),
    "a bracket in each value": each('a%d=">"'),
    "a bracket in single quotes": each("a%d='>'"),
    "a bracket behind blanks": each("a%d=     '>'"),
    "a bracket behind many blanks": each("a%d=%s'>'".replace("%s", " " * 80), 20_000),
    "what looks like the end of a tag": each("a%d='=\"x\">'"),
    "what looks like a start tag": each("<a%d"),
    "slashes between": each("a%d", between="/"),
    "nothing between": each("a%d='>'", between=""),
}


@pytest.mark.parametrize("how", HIDDEN)
def test_too_many_attributes_are_found_wherever_a_tag_seems_to_end(how: str) -> None:
    before = b"<html><body><p>text that is kept</p>"
    markup = before + b"<p " + HIDDEN[how] + b">more"
    cut = cut_of(markup)
    assert cut is not None
    assert cut.at == len(before)
    assert str(cut) == f"markup not read from octet {len(before)} on: too many attributes on a tag"
    tree, told = parse_and_tell(markup)
    assert told == cut
    assert tree.body is not None and tree.body.text() == "text that is kept"


def test_many_tags_with_many_attributes_add_up() -> None:
    tag = b"<p " + each("a%d=1", 1_000) + b">"
    assert cut_of(tag * 30) is None
    assert cut_of(tag * 1_300) is not None


BALANCED = ("div", "ul", "span", "section", "blockquote")
DEPTHS = {
    **{f"balanced {tag}": f"<{tag}>" * DEEP + f"</{tag}>" * DEEP for tag in BALANCED},
    **{f"span in {tag}": f"<span><{tag}></span></{tag}>" * DEEP for tag in ("li", "p", "div", "ul")},
    **{f"div behind {tag}": f"<div><{tag}></div></{tag}>" * DEEP for tag in ("table", "object", "button", "svg", "template")},
    "lists": "<ul><li>" * DEEP,
    "definitions": "<dl><dd>" * DEEP,
    "rows in a drawing": "<svg>" + "<td>" * DEEP,
    "options around blocks": "<option><div>" * DEEP,
    "links around blocks": "<a><div>" * DEEP,
    "behind comments": "<div><!-- </div> -->" * DEEP,
    "behind attributes": "<div title='</div>'>" * DEEP,
    "behind brackets in attributes": '<div a="></div>">' * DEEP,
    "behind brackets in attributes, single": "<div a='\"' b='></div>'>" * DEEP,
    "behind a value that ended": '<div a=">"</div>' * DEEP,
    "behind an end tag's attributes": '<div><p></p a="></div>">' * DEEP,
    "behind unnamed end tags": "<div></3 </div>" * DEEP,
    "behind instructions": "<div><? </div>" * DEEP,
    "behind declarations": "<div><!x </div>" * DEEP,
    "behind data in a drawing": "<svg>" + "<g><![CDATA[></g>]]>" * DEEP,
    "behind a comment that ended": '<!-- --!><div a="--></div>">' * DEEP,
    "behind a comment that seems to end": "<div><!--!></div>-->" * DEEP,
    "behind text that ended": '<title></TITLE><div a="</title></div>">' * DEEP,
    "behind text that seems to end": "<div><title></titles></div></title>" * DEEP,
    "behind a script in a comment in a script": "<div><script><!-- --!><script></script></div>--></script>" * DEEP,
    "a name with an odd blank": "<div\v></div>" * DEEP,
    "names that differ late": f"<x{'y' * 60}a></x{'y' * 60}b>" * DEEP,
    "formatting told apart late": "".join(f"<b title={'x' * 120}{n}>" for n in range(20_000)) + "<p>x" * 20_000,
    "formatting told apart behind a bracket": "".join(f'<b title=">{n}">' for n in range(20_000)) + "<p>x" * 20_000,
    "formatting": "".join(f"<b id={n}>" for n in range(20_000)) + "<p>x" * 20_000,
}  # fmt: skip


@pytest.mark.parametrize("how", DEPTHS)
def test_depth_is_found_whatever_seems_to_close_it(how: str) -> None:
    cut = cut_of(DEPTHS[how].encode())
    assert cut is not None
    assert "deep" in cut.why


HONEST = {
    "a table without end tags": "<table>" + "<tr><td>a<td><b>b</b><p>c<th>d" * 40_000 + "</table>",
    "a list without end tags": "<ul>" + "<li>one<p>two<li><div>three</div>" * 40_000 + "</ul>",
    "definitions": "<dl>" + "<dt>one<dd>two" * 60_000 + "</dl>",
    "lists in lists": "<ul>" + "<li>one<ul><li>two<li>three</ul>" * 30_000 + "</ul>",
    "options": "<select>" + "<optgroup><option>one<option>two" * 30_000 + "</select>",
    "paragraphs": "<div>" + "<p>one<p>two<h2>three</h2><br><img src=x>" * 30_000 + "</div>",
    "a span that is never closed": "<div><span>one</div>" * 40_000,
    "formatting closed crosswise": "<p><b><i>one</b></i></p>" * 40_000,
    "products": "<div class=p><a href=x><img src=y></a><button><svg><path/></svg></button></div>" * 20_000,
    "addresses that end oddly": "<div><a href='/?q='>x</a><span title='a>b'>y</span></div>" * 30_000,
    "long formatting": f"<p><font style='{'color:red;' * 20}'>x</font></p>" * 30_000,
    "comments": "<div><!-- <b>'it's > </b> --><i>x</i></div>" * 30_000,
    "a long script": "<p>x</p><script>" + "var a='b';if(c<d&&e){f(\"g\")};" * 40_000 + "</script><p>y",
    "data in a script": '<script type="application/json">' + '{"a":"<b c","d":1},' * 60_000 + "</script>",
    "data in an attribute": "<div data-x='" + '{"a": "b > c", "d": [1, 2]},' * 20_000 + "'>x</div>",
    "text": "<p>" + "word " * 200_000,
    "brackets in text": "<pre>" + "if a < b and c > d: print('e', \"f\")\n" * 30_000 + "</pre>",
}  # fmt: skip


@pytest.mark.parametrize("what", HONEST)
def test_large_honest_pages_are_not_cut(what: str) -> None:
    markup = HONEST[what].encode()
    assert len(markup) > SMALL
    assert cut_of(markup) is None


def test_nobody_parses_markup_of_the_web_past_its_bounds() -> None:
    """Whoever calls the parser itself reads markup of our own."""
    ours = {"html_document.py", "page_elements.py", "outlinks.py", "item_types.py"}
    root = Path(__file__).parents[2] / "resources"
    callers = {path.name for path in root.rglob("*.py") if "LexborHTMLParser(" in path.read_text("utf-8")}
    assert callers <= ours


def test_markup_longer_than_any_page_is_cut_there() -> None:
    cut = cut_of(b"x" * (MAX_MARKUP + 1))
    assert cut is not None and (cut.at, cut.why) == (MAX_MARKUP, "longer than any page")


pieces = st.sampled_from(
    [b"<p ", b"<b>", b"</p>", b'a="', b"a='", b"= ", b'"', b"'", b">", b"<", b" x=1 ", b"<!-- ", b"-->", b"<script>",
     b"</script>", b"text ", b"<ul><li>", b"</ul>", b"<table><td>", b"</table>", b"\xff", b"\x00"]
)  # fmt: skip


@given(st.lists(pieces, max_size=12), st.integers(1, 4_000))
def test_any_markup_is_cut_at_a_tag_or_not_at_all(some: list[bytes], times: int) -> None:
    markup = b"".join(some) * times
    cut = cut_of(markup)
    assert bounded(markup) == (markup if cut is None else markup[: cut.at])
    if cut is not None and cut.at < MAX_MARKUP:
        assert markup[cut.at : cut.at + 1] == b"<"
        assert cut_of(markup[: cut.at]) is None or cut.why != "too many attributes on a tag"


@settings(max_examples=20)
@given(
    st.lists(
        st.sampled_from([b"a%d=1 ", b"a%d='>' ", b'a%d=">" ', b"a%d ", b"<a%d ", b'a%d="\'>" ']),
        min_size=1,
        max_size=6,
    )
)
def test_no_mixture_of_attributes_gets_through(forms: list[bytes]) -> None:
    tag = b"".join(forms[n % len(forms)] % n for n in range(16_000))
    assert affordable_attributes(b"<html><p>x</p><p " + tag + b">") is not None


@given(
    st.lists(
        st.sampled_from([b"<b>", b"<b class=x>", b"<div>", b"</div>", b"<p>", b"text ", b"<i a='>'>"]),
        min_size=1,
    ),
    st.integers(1_900, 2_100),
)
@settings(max_examples=50, deadline=None)
def test_counting_tags_the_short_way_changes_no_cut(some: list[bytes], tags: int) -> None:
    markup = b"".join(some) * (tags // max(1, b"".join(some).count(b"<")))
    short = cut_of(markup)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html_document, "_SCANNED", 0)
        assert cut_of(markup) == short
