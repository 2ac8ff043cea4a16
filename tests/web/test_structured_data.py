"""Structured data: broken blocks cost themselves only, loops end, and a path names a value or a clear error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from resources.web.structured_data import StructuredData, compile_path, extract, lookup, summarize
from resources.web.structured_data.json_ld import MAX_DEPTH, parse_block
from resources.web.structured_data.microdata import MAX_PROPERTIES

URL = "https://shop.example/p/1"


def read(html: str, url: str = URL) -> StructuredData:
    return extract(LexborHTMLParser(html), url)


def block(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab@", max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)

MARKUP = st.lists(
    st.sampled_from(
        [
            "<div itemscope itemtype='https://schema.org/Product' id=a itemref='a b c'>", "<p itemprop='name x' id=b>",
            "<div itemprop=offers itemscope id=c itemref='b c a'>", "</div>", "text", "<a itemprop=url href='::x'>",
            "<meta property='og:title' content=T>", "<meta name=DC.title content=T>", block('{"a":[1,{"b":2}'),
            block('{"@type":"Product","name":"N",}'), "<link rel=schema.DC href=x>", "<base href='//['>", "<svg><title>",
        ]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(st.one_of(st.text(max_size=200), MARKUP), st.sampled_from(["", URL, "no address"]))
def test_no_page_raises_and_everything_found_can_be_stored(html: str, url: str) -> None:
    tree = LexborHTMLParser(html)
    data = extract(tree, url)
    json.dumps([data.json_ld, data.microdata, data.opengraph, data.meta], allow_nan=False)
    summarize(tree, data)


@given(st.text(max_size=120).map(lambda text: "{" + text + "}") | st.text(max_size=120))
def test_no_block_raises(text: str) -> None:
    found, _ = parse_block(text)
    json.dumps(found, allow_nan=False).encode()


@given(st.dictionaries(st.text("abc@", min_size=1, max_size=3), JSON, min_size=1, max_size=4))
def test_a_sound_block_comes_as_written(value: dict[str, Any]) -> None:
    assert parse_block(json.dumps(value)) == ([value], None)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), JSON, min_size=1, max_size=4))
def test_comments_commas_and_wrappers_are_repaired(value: dict[str, Any]) -> None:
    sound = json.dumps(value, indent=1)
    for broken in (
        f"/* [ */ {sound} // end",
        f"<!--\n{sound}\n-->",
        f"//<![CDATA[\n{sound}\n//]]>",
        sound[:-1] + ",}",
        f"{sound};",
    ):
        assert parse_block(broken)[0] == [value]


@given(
    st.text(alphabet='ab .<>=";', min_size=1, max_size=40).map(lambda text: f"x{text}x"), st.integers(0, 9)
)
def test_quotation_marks_inside_a_string_are_repaired(text: str, number: int) -> None:
    for template in ('{"d": "%s", "n": [%d]}', '{"l": ["%s"], "n": %d}', '[{"d": "%s"}, {"n": %d}]'):
        sound = template % (text.replace('"', '\\"'), number)
        assert parse_block(template % (text, number))[0] == parse_block(sound)[0]


def test_escapes_of_javascript_are_read_and_other_backslashes_kept() -> None:
    found = parse_block(r"""{"a": "Ann\'s", "b": "R\x26B", "c": "C:\videos\new.mp4", "d": "\u00e9\n\\"}""")[
        0
    ][0]
    assert found == {"a": "Ann's", "b": "R&B", "c": "C:\\videos\new.mp4", "d": "é\n\\"}


def test_a_broken_block_costs_that_block_only() -> None:
    data = read(block('{"a":') + block('{"@type":"Thing"}') + block("not json"))
    assert data.json_ld == [{"@type": "Thing"}]
    assert len(data.problems) == 2


def test_several_values_and_the_sound_part_of_a_block_are_kept() -> None:
    assert parse_block('{"a":1}{"b":2}')[0] == [{"a": 1}, {"b": 2}]
    assert parse_block('[{"a":1}, [{"b":2}, 3], null]')[0] == [{"a": 1}, {"b": 2}]


def test_nesting_numbers_and_surrogates_are_bounded() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert parse_block(deep)[0] == []
    assert parse_block('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1))[0] == []
    huge = parse_block('{"n":' + "9" * 100_000 + ',"e":1e999,"x":NaN,"s":"\\ud83d","ok":12}')[0][0]
    assert len(str(huge["n"])) < 100
    assert isinstance(huge["e"], str)
    assert (huge["x"], huge["s"], huge["ok"]) == (None, "\ufffd", 12)


def test_the_script_type_is_matched_by_meaning() -> None:
    for kind in ("Application/LD+JSON", " application/ld+json; charset=utf-8 "):
        assert read(f'<script type="{kind}">{{"a":1}}</script>').json_ld == [{"a": 1}]
    assert read('<script type="application/ld+json-x">{"a":1}</script>').json_ld == []


def test_itemref_brings_properties_in_tree_order_and_loops_end() -> None:
    data = read(
        "<p id=x><b itemprop=first>1</b></p>"
        "<div itemscope id=a itemref='x b'><i itemprop=second>2</i></div>"
        "<div id=b><div itemprop=part itemscope itemref=c></div></div>"
        "<div id=c itemprop=whole itemscope itemref=b></div>"
    )
    properties = data.microdata[0]["properties"]
    assert list(properties) == ["first", "second", "part"]
    assert any("itself" in problem for problem in data.problems)


def test_exponential_itemref_is_cut_off() -> None:
    html = "<div itemscope itemref=l0></div>"
    for level in range(30):
        html += f"<div id=l{level}>" + f"<p itemprop=a itemscope itemref=l{level + 1}></p>" * 2 + "</div>"
    data = read(html)
    assert len(json.dumps(data.microdata)) < 200 * MAX_PROPERTIES
    assert any("not read" in problem for problem in data.problems)


def test_deeply_nested_elements_cost_linear_time() -> None:
    html = "<div itemscope>" + "<div><b itemprop=n>x</b>" * 5_000
    assert len(read(html).microdata[0]["properties"]["n"]) == 5_000


def test_values_come_from_the_attribute_that_the_element_defines() -> None:
    data = read(
        "<base href='https://cdn.example/'><div itemscope itemid=i><a itemprop=a href=x>y</a><img itemprop=b src=z>"
        "<time itemprop=c datetime=2024-05-06>May</time><data itemprop=d value=9>nine</data>"
        "<span itemprop=e content=5.00>5,00</span><p itemprop=f>p<script>no</script></p><object itemprop=g data=o>"
    )
    item = data.microdata[0]
    assert item["id"] == "https://cdn.example/i"
    assert {name: values[0] for name, values in item["properties"].items()} == {
        "a": "https://cdn.example/x",
        "b": "https://cdn.example/z",
        "c": "2024-05-06",
        "d": "9",
        "e": "5.00",
        "f": "p",
        "g": "https://cdn.example/o",
    }


def test_open_graph_keeps_its_order_and_the_first_value_counts() -> None:
    data = read(
        "<meta property=og:title content=''><meta name=OG:Title content=A><meta property=og:title content=B>"
        "<meta property=og:image content=/1.jpg><meta property=og:image:width content=10>"
        "<meta property=og:image content=/2.jpg><meta name=viewport content=w>"
    )
    assert data.opengraph[3:] == [
        ("og:image", "https://shop.example/1.jpg"),
        ("og:image:width", "10"),
        ("og:image", "https://shop.example/2.jpg"),
    ]
    assert lookup(data, "og:title") == ["A", "B"]
    assert data.meta == [("viewport", "w")]


def test_dublin_core_prefixes_refinements_and_links() -> None:
    data = read(
        "<link rel=schema.X href='http://purl.org/dc/terms/'><meta name=dc.creator content=C>"
        "<meta name=DC.Date.modified content=2001><meta name=dcterms:issued content=2003>"
        "<link rel=DCTERMS.replaces href=/old>"
    )
    assert [(each.term, each.content) for each in data.dublin_core] == [
        ("creator", "C"),
        ("modified", "2001"),
        ("issued", "2003"),
        ("replaces", "https://shop.example/old"),
    ]


PRODUCT = """{"@graph": [{"@type": "WebPage", "name": "Page"}, {"@type": ["schema:Product", "Thing"], "name": " A  b ",
 "offers": [{"price": 12.5, "inStock": true}, {"price": "13"}], "brand": {"@type": "Brand", "name": "B"},
 "color": {"@value": "red"}, "none": null}]}"""


def test_paths_reach_into_every_format() -> None:
    data = read(
        block(PRODUCT)
        + "<meta property=og:image:width content=10><meta name=DC.creator content=C><meta name=Description content=D>"
        "<div itemscope itemtype=https://schema.org/Product itemid=/1><b itemprop=name>M</b>"
        "<div itemprop=brand itemscope itemtype=https://schema.org/Brand><b itemprop=name>MB</b></div></div>"
    )
    expected = {
        "jsonld:Product.name": ["A b"],
        "jsonld:Product.offers.price": ["12.5", "13"],
        "jsonld:Product.offers.inStock": ["true"],
        "jsonld:Product.color": ["red"],
        "jsonld:Product.none": [],
        "jsonld:Brand.name": ["B"],
        "jsonld:*.name": ["Page", "A b"],
        "jsonld:Recipe.name": [],
        "microdata:Product.name": ["M"],
        "microdata:Product.brand.name": ["MB"],
        "microdata:Product.@id": ["https://shop.example/1"],
        "og:image:width": ["10"],
        "dc:creator": ["C"],
        "meta:description": ["D"],
    }
    assert {path: lookup(data, path) for path in expected} == expected
    assert json.loads(lookup(data, "jsonld:Brand")[0]) == {"@type": "Brand", "name": "B"}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", "no path"),
        ("price", "no path"),
        ("jsonld:", "no path"),
        (" og:title", "no path"),
        ("jsonld:Product..price", "no property name"),
        ("jsonld:1x.price", "no type"),
        ("microdata:Product.a b", "no property name"),
        ("xyz:title", "unknown source 'xyz'"),
        ("dc:a.b", "Dublin Core term"),
        ("meta:a b", "blanks"),
        ("og:image::width", "no property name"),
    ],
)
def test_a_malformed_path_is_an_error_that_says_why(path: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        compile_path(path)


@given(st.text(max_size=30))
def test_any_other_path_is_an_error_or_gives_texts(path: str) -> None:
    try:
        compile_path(path)
    except ValueError:
        return
    assert all(isinstance(value, str) for value in lookup(StructuredData(), path))


def test_the_summary_prefers_what_is_most_deliberate() -> None:
    tree = LexborHTMLParser(
        "<html lang=de-AT><svg><title>icon</title></svg><title> T |\n Site </title><meta property=og:title content=T>"
        + block(
            '{"@type":"Article","datePublished":"2024-05-06","author":[{"name":"A B"}],"dateModified":"2024-06-01"}'
        )
    )
    summary = summarize(tree, extract(tree, URL))
    assert (summary.title, summary.og_title, summary.lang) == ("T | Site", "T", "de-AT")
    assert (summary.author, summary.published, summary.modified) == ("A B", "2024-05-06", "2024-06-01")


def test_a_page_without_any_is_false() -> None:
    assert not read("<title>x</title><meta name=viewport content=w><script>var a = 1</script>")


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("<div itemscope itemtype='http://schema.org/Offer'><i itemprop=price>1</i></div>", "microdata"),
        ("<div ITEMSCOPE ITEMTYPE=http://schema.org/Offer><i itemprop=price>1</i></div>", "microdata"),
        ("<div vocab='http://schema.org/' typeof=Offer><i property=price>1</i></div>", "rdfa"),
        ("<div\ntypeOf='http://schema.org/Offer'><i property='http://schema.org/price'>1</i></div>", "rdfa"),
        ("<div title=x\nabout = '#o'><i property='http://schema.org/price'>1</i></div>", "rdfa"),
        ("<i title='x'about=#o property='http://schema.org/price'>1</i>", "rdfa"),
        ("<i/resource=#o property='http://schema.org/itemOffered'>1</i>", "rdfa"),
        ("<div class=h-entry><b class=p-name>x</b><a class=u-url href=/y>y</a></div>", "microformats"),
        ("<div class='a h-card'><b class=p-name>x</b><a class=u-url href=/y>y</a></div>", "microformats"),
        ("<div class='&#104;-card'><b class=p-name>x</b><a class=u-url href=/y>y</a></div>", "microformats"),
        ('<div class="h&#x2d;card"><b class=p-name>x</b><a class=u-url href=/y>y</a></div>', "microformats"),
        ("<div class = &#118;card><b class=fn>x</b><a class=url href=/y>y</a></div>", "microformats"),
    ],
)  # fmt: skip
def test_every_spelling_of_a_rarer_format_is_found_in_the_octets_first(body: str, where: str) -> None:
    markup = f"<html><body><p>about = resource</p>{body}".encode()
    tree = LexborHTMLParser(markup)
    data = extract(tree, "http://shop.example/", None, markup)
    assert getattr(data, where)
    assert data == extract(tree, "http://shop.example/")
