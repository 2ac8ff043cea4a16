"""RDFa by its processing rules: subjects, values, chaining, lists, names, and bounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.html_document import parse_html
from resources.web.structured_data import StructuredData, extract, lookup, rdfa
from resources.web.structured_data.addresses import Resolver

HERE = "https://shop.example/lamp"
FOAF = "http://xmlns.com/foaf/0.1/"
DCT = "http://purl.org/dc/terms/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SCHEMA = "http://schema.org/"


def graph(html: str, problems: list[str] | None = None) -> dict[str, dict[str, Any]]:
    tree = parse_html(html)
    return {
        n["@id"]: n for n in rdfa.nodes(tree, Resolver(tree, HERE), problems if problems is not None else [])
    }


def only(html: str, subject: str = HERE) -> dict[str, Any]:
    node = graph(html)[subject]
    return {name: values for name, values in node.items() if name != "@id"}


# -- values ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("markup", "value"),
    [
        ("<p property='dc:title'>A <b>lamp</b></p>", {"@value": "A lamp"}),
        ("<p property='dc:title' content='x'>y</p>", {"@value": "x"}),
        ("<p property='dc:title' content=''>y</p>", {"@value": ""}),
        ("<p lang='de' property='dc:title'>Lampe</p>", {"@language": "de", "@value": "Lampe"}),
        ("<div lang='de'><p lang='' property='dc:title'>x</p></div>", {"@value": "x"}),
        ("<p property='dc:title' datatype='xsd:integer'>5</p>", {"@type": f"{XSD}integer", "@value": "5"}),
        ("<p property='dc:title' datatype=''>5</p>", {"@value": "5"}),
        ("<a property='dc:title' href='/x'>5</a>", {"@id": "https://shop.example/x"}),
        ("<img property='dc:title' src='x.png'>", {"@id": "https://shop.example/x.png"}),
        ("<p property='dc:title' resource='[foaf:Agent]'>x</p>", {"@id": f"{FOAF}Agent"}),
        ("<p property='dc:title' datatype='rdf:XMLLiteral'>a <b>c</b></p>",
         {"@type": f"{RDF}XMLLiteral", "@value": "a <b>c</b>"}),
        ("<time property='dc:title' datetime='2026-11-29'>today</time>", {"@type": f"{XSD}date", "@value": "2026-11-29"}),
        ("<time property='dc:title'>2026-11-29T07:00:00Z</time>",
         {"@type": f"{XSD}dateTime", "@value": "2026-11-29T07:00:00Z"}),
        ("<time property='dc:title' datetime='soon'>x</time>", {"@value": "soon"}),
        ("<data property='dc:title' value='3'>three</data>", {"@value": "3"}),
    ],
)  # fmt: skip
def test_the_value_of_a_property(markup: str, value: dict[str, str]) -> None:
    assert only(markup) == {f"{DCT}title": [value]}


# -- of what is spoken ------------------------------------------------------------------------------------------
def test_the_nearest_subject_is_meant() -> None:
    html = """<div about="#a"><p property="dc:title">one</p>
      <div typeof="foaf:Person" resource="#b"><p property="foaf:name">two</p></div><p property="dc:title">three</p></div>"""
    found = graph(html)
    assert found[f"{HERE}#a"][f"{DCT}title"] == [{"@value": "one"}, {"@value": "three"}]
    assert found[f"{HERE}#b"] == {
        "@id": f"{HERE}#b",
        "@type": [f"{FOAF}Person"],
        f"{FOAF}name": [{"@value": "two"}],
    }


def test_head_and_body_speak_of_the_page() -> None:
    html = (
        "<html><head typeof='foaf:Document'><meta property='dc:title' content='x'></head><body></body></html>"
    )
    assert only(html) == {"@type": [f"{FOAF}Document"], f"{DCT}title": [{"@value": "x"}]}


def test_a_property_with_a_type_has_a_node_as_its_value() -> None:
    html = """<div vocab="http://schema.org/" typeof="Product"><span property="name">Lamp</span>
      <div property="offers" typeof="Offer"><span property="price">5</span></div></div>"""
    found = graph(html)
    (product,) = [n for n in found.values() if n.get("@type") == [f"{SCHEMA}Product"]]
    (offer,) = product[f"{SCHEMA}offers"]
    assert found[offer["@id"]][f"{SCHEMA}price"] == [{"@value": "5"}]
    assert found[HERE] == {"@id": HERE, "http://www.w3.org/ns/rdfa#usesVocabulary": [{"@id": SCHEMA}]}


def test_links_with_and_without_a_target() -> None:
    assert only('<a rel="license" href="/cc">x</a>') == {
        "http://www.w3.org/1999/xhtml/vocab#license": [{"@id": "https://shop.example/cc"}]
    }
    assert only('<a rev="foaf:made" href="/me">x</a>', "https://shop.example/me") == {
        f"{FOAF}made": [{"@id": HERE}]
    }
    chained = graph('<ul rel="foaf:knows"><li about="#a">A</li><li about="#b">B</li></ul>')
    assert chained[HERE][f"{FOAF}knows"] == [{"@id": f"{HERE}#a"}, {"@id": f"{HERE}#b"}]
    unnamed = graph('<div rel="foaf:knows"><span property="foaf:name">A</span></div>')
    (who,) = unnamed[HERE][f"{FOAF}knows"]
    assert unnamed[who["@id"]][f"{FOAF}name"] == [{"@value": "A"}]
    backwards = graph('<div rev="foaf:made"><p about="#a"></p></div>')
    assert backwards[f"{HERE}#a"] == {"@id": f"{HERE}#a", f"{FOAF}made": [{"@id": HERE}]}


def test_plain_words_in_rel_beside_property_are_htmls() -> None:
    html = "<a vocab='http://schema.org/' property='url' rel='nofollow' href='/x'>x</a>"
    assert only(html)[f"{SCHEMA}url"] == [{"@id": "https://shop.example/x"}]


def test_lists_keep_their_order_and_may_be_mixed() -> None:
    html = """<p about="#b"><span property="dc:creator" inlist="">Ben</span><span property="dc:creator" inlist>Amy</span>
      <a inlist rel="dc:creator" href="/cy">Cy</a></p>"""
    (value,) = only(html, f"{HERE}#b")[f"{DCT}creator"]
    assert value == {"@list": [{"@value": "Ben"}, {"@value": "Amy"}, {"@id": "https://shop.example/cy"}]}
    empty = only('<p about="#b" rel="dc:creator" inlist></p>', f"{HERE}#b")
    assert empty == {f"{DCT}creator": [{"@list": []}]}


# -- names ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("markup", "names"),
    [
        ("<p prefix='x: http://x.example/ Y: http://y.example/' property='x:a y:b'>1</p>", ["http://x.example/a", "http://y.example/b"]),
        ("<p xmlns:x='http://x.example/' property='x:a'>1</p>", ["http://x.example/a"]),
        ("<p property='http://x.example/whole'>1</p>", ["http://x.example/whole"]),
        ("<p property='al:ios:url'>1</p>", ["al:ios:url"]),
        ("<p property='word'>1</p>", []),
        ("<div vocab='http://x.example/'><p vocab='' property='word'>1</p></div>", []),
        ("<div vocab='http://x.example/'><p property='word'>1</p></div>", ["http://x.example/word"]),
        ("<meta property='article:section' content='1'>", ["http://ogp.me/ns/article#section"]),
    ],
)  # fmt: skip
def test_names(markup: str, names: list[str]) -> None:
    found = graph(markup).get(HERE, {})
    assert [n for n in found if n[:1] != "@" and "usesVocabulary" not in n] == names


def test_nodes_that_a_page_names_are_none_of_ours() -> None:
    found = graph(
        '<p about="_:b0" property="dc:title">a</p><p typeof="foaf:Person"></p><p about="[_:b0]" property="dc:date">b</p>'
    )
    assert len(found) == 2
    assert {len(node) for node in found.values()} == {3, 2}


def test_documents_of_1_0_are_read_by_its_rules() -> None:
    html = """<html version="XHTML+RDFa 1.0" xmlns:dc="http://purl.org/dc/terms/"><head><link rel="alternate" href="/feed"></head>
      <body><div property="dc:title">A <b>lamp</b></div><a property="dc:date" href="/x">now</a></body></html>"""
    assert only(html) == {
        "http://www.w3.org/1999/xhtml/vocab#alternate": [{"@id": "https://shop.example/feed"}],
        f"{DCT}title": [{"@type": f"{RDF}XMLLiteral", "@value": "A <b>lamp</b>"}],
    }
    assert graph(html)["https://shop.example/x"][f"{DCT}date"] == [{"@value": "now"}]
    newer = only(html.replace(' version="XHTML+RDFa 1.0"', ""))
    assert newer[f"{DCT}title"] == [{"@value": "A lamp"}]
    assert "http://www.w3.org/1999/xhtml/vocab#alternate" not in newer


# -- in the product ---------------------------------------------------------------------------------------------
PRODUCT = """<div vocab="http://schema.org/" typeof="Product" resource="#lamp"><h1 property="name">Blue
  lamp</h1><div property="offers" typeof="Offer"><span property="price" content="12.50">£12.50</span>
  <link property="availability" href="http://schema.org/InStock"></div>
  <p property="brand" resource="#maker"></p></div><p about="#maker" typeof="schema:Brand" property="schema:name">Wick</p>"""


def data_of(html: str) -> StructuredData:
    return extract(parse_html(html), HERE)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("rdfa:Product.name", ["Blue lamp"]),
        ("rdfa:Product.offers.price", ["12.50"]),
        ("rdfa:Product.offers.availability", ["http://schema.org/InStock"]),
        ("rdfa:Product.brand.name", ["Wick"]),
        ("rdfa:Product.@id", [f"{HERE}#lamp"]),
        ("rdfa:Product.brand", [f"{HERE}#maker"]),
        ("rdfa:*.price", ["12.50"]),
        ("rdfa:Book.name", []),
        ("rdfa:Product.name.deeper", []),
    ],
)
def test_paths_into_the_graph(path: str, values: list[str]) -> None:
    assert lookup(data_of(PRODUCT), path) == values


def test_a_page_whose_only_rdfa_is_open_graph_has_it_once() -> None:
    data = data_of('<meta property="og:title" content="Lamp"><p>x</p>')
    assert data.opengraph == [("og:title", "Lamp")]
    assert data.rdfa == [] and data.microformats == []


# -- bounds -----------------------------------------------------------------------------------------------------
def test_texts_inside_texts_are_bounded() -> None:
    problems: list[str] = []
    deep = "".join(f"<div property='dc:title'>{'x' * 500}" for _ in range(1_500))
    graph(deep, problems)
    assert problems == ["RDFa: more than 4,000,000 characters of text: the rest is not read"]


def test_statements_are_bounded() -> None:
    problems: list[str] = []
    words = " ".join(f"dc:t{n}" for n in range(300))
    found = graph(f"<p property='{words}'>x</p>" * 200, problems)
    assert problems and "statements" in problems[0]
    assert sum(len(node) for node in found.values()) <= rdfa.MAX_STATEMENTS + len(found)


tags = st.sampled_from(["div", "a", "p", "html", "head", "body", "img", "time", "svg", "template"])
attributes = st.sampled_from(
    ["about", "content", "datatype", "href", "inlist", "prefix", "property", "rel", "resource", "rev", "src", "typeof",
     "vocab", "lang", "xmlns:x", "version"]
)  # fmt: skip
values = st.text(alphabet='a:_[]/#x ."<é', max_size=8) | st.sampled_from(
    [
        "dc:title",
        "foaf:knows",
        "http://x.example/",
        "_:b0",
        "[dc:x]",
        "x: http://x.example/",
        "XHTML+RDFa 1.0",
        "license",
    ]
)
elements = st.recursive(
    st.text(max_size=4),
    lambda inner: st.builds(
        lambda tag, given, children: (
            f"<{tag} {' '.join(f'{n}={v!r}' for n, v in given.items())}>{''.join(children)}</{tag}>"
        ),
        tags,
        st.dictionaries(attributes, values, max_size=4),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


@given(elements)
def test_any_markup_gives_a_graph(html: str) -> None:
    for subject, node in graph(html).items():
        assert node["@id"] == subject
        for name, said in node.items():
            if name == "@type":
                assert said and all(isinstance(kind, str) for kind in said)
            elif name != "@id":
                assert said and all({"@id", "@value", "@list"} & value.keys() for value in said)
