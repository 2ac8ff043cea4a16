"""Microformats by their parsing specification: roots, properties, nesting, implied ones, classic ones, bounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.html_document import parse_html
from resources.web.structured_data import extract, lookup, microformats
from resources.web.structured_data.addresses import Resolver

HERE = "https://blog.example/post"


def items(html: str, problems: list[str] | None = None) -> list[dict[str, Any]]:
    tree = parse_html(html)
    return microformats.items(tree, Resolver(tree, HERE), problems if problems is not None else [])


def properties(html: str) -> dict[str, list[Any]]:
    (item,) = items(html)
    found: dict[str, list[Any]] = item["properties"]
    return found


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<b class='p-name'> Amy <i>Lee</i> </b>", {"name": ["Amy Lee"]}),
        ("<abbr class='p-name' title='Amelia'>Amy</abbr>", {"name": ["Amelia"]}),
        ("<data class='p-name' value='7'>seven</data>", {"name": ["7"]}),
        ("<img class='p-name' alt='Amy' src='x'>", {"name": ["Amy"]}),
        ("<b class='p-name'>Amy<script>x</script> <img alt='L' src='l'></b>", {"name": ["Amy L"]}),
        ("<b class='p-name'>x <i class='value'>Amy</i> <i class='value'>Lee</i></b>", {"name": ["AmyLee"]}),
        ("<b class='p-tel'><i class='value-title' title='+44'>x</i></b><b class='p-name'>n</b>", {"tel": ["+44"], "name": ["n"]}),
        ("<a class='u-url p-name' href='/amy'>Amy</a>", {"url": ["https://blog.example/amy"], "name": ["Amy"]}),
        ("<img class='u-photo' src='/a.png' alt='Amy'><b class='p-name'>n</b>",
         {"photo": [{"value": "https://blog.example/a.png", "alt": "Amy"}], "name": ["n"]}),
        ("<video class='u-video' poster='/p.png'></video><b class='p-name'>n</b>", {"video": ["https://blog.example/p.png"], "name": ["n"]}),
        ("<b class='u-url'> /amy </b><b class='p-name'>n</b>", {"url": ["https://blog.example/amy"], "name": ["n"]}),
        ("<time class='dt-start' datetime='2026-11-29'>today</time><b class='p-name'>n</b>", {"start": ["2026-11-29"], "name": ["n"]}),
        ("<b class='dt-start'><i class='value'>2026-11-29</i> at <i class='value'>7:30pm</i></b><b class='p-name'>n</b>",
         {"start": ["2026-11-29 19:30"], "name": ["n"]}),
        ("<b class='e-content'><i>Hi</i> there</b>", {"content": [{"html": "<i>Hi</i> there", "value": "Hi there"}]}),
        ("<b class='p-name p-name'>n</b>", {"name": ["n"]}),
        ("<b class='p-x-odd p-4 P-Name p--x'>n</b>", {"x-odd": ["n"]}),
    ],
)  # fmt: skip
def test_the_value_of_a_property(markup: str, expected: dict[str, list[Any]]) -> None:
    found = properties(f"<div class='h-card'>{markup}</div>")
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<b class='h-card'> Amy </b>", {"name": ["Amy"]}),
        ("<img class='h-card' alt='Amy' src='/a.png'>",
         {"name": ["Amy"], "photo": [{"value": "https://blog.example/a.png", "alt": "Amy"}]}),
        ("<abbr class='h-card' title='Amelia'>Amy</abbr>", {"name": ["Amelia"]}),
        ("<a class='h-card' href='/amy'>Amy</a>", {"name": ["Amy"], "url": ["https://blog.example/amy"]}),
        ("<div class='h-card'><a href='/amy'><img src='/a.png' alt='Amy'></a></div>",
         {"name": ["Amy"], "photo": [{"value": "https://blog.example/a.png", "alt": "Amy"}], "url": ["https://blog.example/amy"]}),
        ("<div class='h-card'><a href='/a'>A</a><a href='/b'>B</a></div>", {"name": ["AB"]}),
        ("<div class='h-card'><b class='p-tel'>1</b> x</div>", {"tel": ["1"]}),
        ("<div class='h-card'><a class='u-email' href='mailto:a@b.example'>Amy</a><img src='/a.png'></div>",
         {"email": ["mailto:a@b.example"], "name": ["Amy https://blog.example/a.png"]}),
    ],
)  # fmt: skip
def test_what_is_implied(markup: str, expected: dict[str, list[Any]]) -> None:
    assert properties(markup) == expected


def test_items_inside_items() -> None:
    html = """<article class="h-entry" id="p1"><h1 class="p-name">Hello</h1>
      <a class="p-author h-card" href="/amy">Amy</a><a class="u-in-reply-to h-cite" href="/x">that</a>
      <div class="h-card">Ben</div></article>"""
    (entry,) = items(html)
    amy = {"name": ["Amy"], "url": ["https://blog.example/amy"]}
    cite = {"name": ["that"], "url": ["https://blog.example/x"]}
    assert entry == {
        "type": ["h-entry"],
        "id": "p1",
        "properties": {
            "name": ["Hello"],
            "author": [{"type": ["h-card"], "properties": amy, "value": "Amy"}],
            "in-reply-to": [{"type": ["h-cite"], "properties": cite, "value": "https://blog.example/x"}],
        },
        "children": [{"type": ["h-card"], "properties": {"name": ["Ben"]}}],
    }


def test_properties_of_an_inner_item_are_not_those_of_the_outer() -> None:
    html = "<div class='h-feed'><div class='h-entry'><b class='p-name'>in</b></div><b class='p-name'>out</b></div>"
    (feed,) = items(html)
    assert feed["properties"] == {"name": ["out"]}
    assert feed["children"][0]["properties"] == {"name": ["in"]}


def test_classic_ones_are_read_as_what_they_stand_for() -> None:
    html = """<div class="post hentry"><h2 class="entry-title">Hello</h2><span class="author vcard"><a class="fn url" href="/amy">Amy</a>
      </span><abbr class="published" title="2026-11-29">today</abbr><div class="entry-content"><p>Hi</p></div></div>
      <p class="item adr geo">words of every page</p>"""
    (entry,) = items(html)
    author = {"name": ["Amy"], "url": ["https://blog.example/amy"]}
    assert entry["type"] == ["h-entry"]
    assert entry["properties"] == {
        "name": ["Hello"],
        "author": [{"type": ["h-card"], "properties": author, "value": "Amy"}],
        "published": ["2026-11-29"],
        "content": [{"html": "<p>Hi</p>", "value": "Hi"}],
    }


def test_a_root_of_today_hides_the_classic_one_beside_it() -> None:
    (entry,) = items(
        "<div class='hentry h-entry'><b class='entry-title'>old</b><b class='p-name'>new</b></div>"
    )
    assert entry["properties"] == {"name": ["new"]}


def test_style_sheets_are_no_microformats() -> None:
    html = "<div class='h-full p-4'><b class='h-px'>x</b></div><div class='h-card'>Amy</div>"
    data = extract(parse_html(html), HERE)
    assert [item["type"] for item in data.microformats] == [["h-card"]]
    assert extract(parse_html("<div class=h-full>x</div>"), HERE).microformats == []


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("mf2:h-entry.name", ["Hello"]),
        ("mf2:h-entry.author", ["Amy"]),
        ("mf2:h-entry.author.url", ["https://blog.example/amy"]),
        ("mf2:h-card.url", ["https://blog.example/amy"]),
        ("mf2:h-entry.content", ["Hi there"]),
        ("mf2:h-event.name", []),
    ],
)
def test_paths(path: str, values: list[str]) -> None:
    html = """<div class="h-entry"><b class="p-name">Hello</b><a class="p-author h-card" href="/amy">Amy</a>
      <div class="e-content">Hi <b>there</b></div></div>"""
    assert lookup(extract(parse_html(html), HERE), path) == values


# -- bounds -----------------------------------------------------------------------------------------------------
def test_texts_inside_texts_are_bounded() -> None:
    problems: list[str] = []
    items(
        "<div class='h-card'>" + "".join(f"<div class='p-note'>{'x' * 500}" for _ in range(1_500)), problems
    )
    assert problems == ["microformats: more than 4,000,000 characters of text: the rest is not read"]


@pytest.mark.parametrize("inner", ["<i class=value></i>", "<img>"])
def test_looking_at_the_same_elements_over_and_over_is_bounded(inner: str) -> None:
    problems: list[str] = []
    items("<div class='h-card'>" + "<div class='p-note'>" * 400 + inner * 2_000, problems)
    assert problems


def test_items_nest_to_a_limit() -> None:
    (item,) = items("<div class='p-author h-card'>" * 500)
    depth = 0
    while item["properties"].get("author"):
        (item,) = item["properties"]["author"]
        depth += 1
    assert depth == microformats.MAX_DEPTH


def test_values_are_bounded() -> None:
    problems: list[str] = []
    names = " ".join(f"p-x{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300))
    items(f"<div class='h-card'>{f'<b class={names!r}>x</b>' * 100}</div>", problems)
    assert problems and "values" in problems[0]


classes = st.lists(
    st.sampled_from(
        ["h-entry", "h-card", "h-x", "p-name", "u-url", "u-photo", "dt-start", "e-content", "p-author", "value", "vcard",
         "value-title", "hentry", "hreview", "item", "fn", "author", "entry-title", "published", "geo", "adr"]
    ), max_size=3,
)  # fmt: skip
elements = st.recursive(
    st.text(max_size=6),
    lambda inner: st.builds(
        lambda tag, words, more, children: (
            f"<{tag} class='{' '.join(words)}' {more}>{''.join(children)}</{tag}>"
        ),
        st.sampled_from(["div", "a", "img", "time", "abbr", "data", "template", "object", "area", "input"]),
        classes,
        st.sampled_from(
            ["", "href='/x'", "src='/y' alt=z", "datetime='2026'", "title='t'", "value=v", "id=i"]
        ),
        st.lists(inner, max_size=4),
    ),
    max_leaves=14,
)


@given(elements)
def test_any_markup_gives_items_of_the_one_shape(html: str) -> None:
    waiting: list[Any] = items(html)
    while waiting:
        item = waiting.pop()
        assert item["type"] == sorted(set(item["type"])) and item["type"]
        waiting += item.get("children", ())
        for values in item["properties"].values():
            assert values
            waiting += [value for value in values if isinstance(value, dict) and "type" in value]


@given(
    st.lists(
        st.sampled_from(["2026-11-29", "T07:00", "7pm", "7:30 a.m.", "+01:00", "Z", "x", "2026-11", ""]),
        max_size=4,
    )
)
def test_moments_are_put_together_from_any_pieces(pieces: list[str]) -> None:
    inner = "".join(f"<i class='value'>{piece}</i>" for piece in pieces)
    found = properties(f"<div class='h-event'><b class='dt-start'>{inner}</b><b class='p-name'>n</b></div>")
    assert isinstance(found["start"][0], str)
