"""The rows of a page: pages, links, structured data."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from resources.extract.link_rows import LinkReader
from resources.web.html_document import parse_html
from resources.web.links import document_base
from resources.web.outlinks import outlinks
from resources.web.page_elements import read_elements
from resources.web.url_policy import DEFAULT_POLICY
from resources.web.urls import canonical
from tests.extract.pages import extract, site_of

PAGE = """<!doctype html><html lang="en"><head><title> Blue
  lamp </title><meta name=description content="A lamp."><link rel=canonical href="/lamp">
<meta property="og:title" content="Lamp"><meta property="og:image" content="/a.png"><meta property="og:image" content="/b.png">
<script type="application/ld+json">{"@type":"Product","name":"Lamp"}</script></head>
<body><h1>Lamp</h1><script>var hidden = 1</script><p>Bright.</p></body></html>"""


def test_the_row_of_a_page_holds_what_the_page_says_of_itself() -> None:
    page = extract(PAGE).page
    assert (page.title, page.description, page.language) == ("Blue lamp", "A lamp.", "en")
    assert page.canonical_url == "https://shop.example/lamp"
    assert page.text_length == len("LampBright.")
    assert page.encoding == "utf-8"
    assert (page.fetched_at, page.first_seen_at, page.changed_at) == (1_000.0, 900.0, 950.0)


def test_canonicals_that_contradict_each_other_are_none() -> None:
    html = '<head><link rel=canonical href="/a"><link rel=canonical href="/b"></head>'
    assert extract(html).page.canonical_url is None


def test_a_body_that_is_no_html_has_a_row_and_nothing_else() -> None:
    found = extract(b"%PDF-1.7", headers=(("content-type", "application/pdf"),))
    assert found.page.content_type == "application/pdf"
    assert found.page.title is None and found.page.text_length is None
    assert not found.links


def test_bodies_are_decoded_by_their_own_encoding() -> None:
    body = "<meta charset=windows-1251><title>Лампа</title>".encode("cp1251")
    page = extract(body, headers=(("Content-Type", "text/html"),)).page
    assert (page.title, page.encoding) == ("Лампа", "windows-1251")


def test_links_are_distinct_targets_with_their_first_words() -> None:
    html = """<a href="/a#x"><img src=i alt="Picture"></a> <a href="/a" rel="NoFollow">  The
      words </a><a href="/a#y" rel=external>later</a> <a href="">self</a><a href="#top">top</a>
      <a href="mailto:a@b.example">m</a><a href="/img"><img alt="Only  picture"></a><map><area href="/zone" alt="Zone"></map>"""
    assert extract(html).links == [
        ("https://shop.example/a", "The words", "external nofollow", True),
        ("https://shop.example/img", "Only picture", "", True),
        ("https://shop.example/zone", "Zone", "", True),
    ]


def test_links_follow_the_document_base_and_the_sites_own_url_rules() -> None:
    site = site_of(urls={"drop_parameters": ["sid"]})
    html = '<base href="/deep/"><a href="b?sid=1&utm_source=x&q=2">B</a>'
    assert extract(html, site).links == [("https://shop.example/deep/b?q=2", "B", "", True)]


def test_a_link_is_in_scope_if_some_site_covers_and_includes_it() -> None:
    shop = site_of(scope={"exclude": ["/cart*"]})
    other = site_of(name="other", domains=["other.example"])
    html = (
        '<a href="/cart/1">c</a><a href="https://other.example/">o</a><a href="https://else.example/">e</a>'
    )
    assert [link[3] for link in extract(html, shop, other).links] == [False, True, False]


def test_iframes_are_links_if_the_site_says_so() -> None:
    html = '<iframe src="/frame"></iframe>'
    assert extract(html).links == []
    assert extract(html, site_of(scope={"iframes": True})).links == [
        ("https://shop.example/frame", "", "", True)
    ]


def test_structured_data_becomes_rows_unless_switched_off() -> None:
    rows = extract(PAGE).structured
    assert [(row[0], row[1], row[2]) for row in rows] == [("jsonld", 0, "Product"), ("opengraph", 0, None)]
    assert json.loads(rows[1][3]) == {
        "og:title": "Lamp",
        "og:image": ["https://shop.example/a.png", "https://shop.example/b.png"],
    }
    assert extract(PAGE, site_of(structured_data=False)).structured == []


PIECES = st.sampled_from(
    ["", "/", "//", "a", "b/", "..", "../", ".", "?", "?q=1", "#", "#x", "http:", "https:", "https://", "other.example",
     "\\", " ", "\t", "\n", "%41", "ä", "?ä", ":", "mailto:", ";", "&amp;", "javascript:"]
)  # fmt: skip
HREFS = st.lists(PIECES, max_size=5).map("".join)


@given(
    pages=st.lists(st.tuples(HREFS, st.lists(HREFS, max_size=6)), min_size=1, max_size=6),
    base=st.none() | HREFS,
)
def test_the_memory_of_addresses_changes_no_link(
    pages: list[tuple[str, list[str]]], base: str | None
) -> None:
    reader = LinkReader(DEFAULT_POLICY, lambda url: True)
    for place, hrefs in pages:
        url = canonical(f"https://shop.example/d/{place}") or "https://shop.example/"
        head = f'<base href="{base}">' if base is not None else ""
        tree = parse_html(head + "".join(f'<a href="{href}">x</a>' for href in hrefs))
        found = reader.read(tree, read_elements(tree).anchors, url, document_base(tree, url), "windows-1252")
        assert [row[0] for row in found] == [link for link, _ in outlinks(tree, url, "windows-1252")]
