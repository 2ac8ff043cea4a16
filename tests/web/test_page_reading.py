"""What pages and their headers say beside links: robots directives, Link fields, metadata, text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.html_document import parse_html
from resources.web.link_header import parse_link_header, target_of
from resources.web.page_metadata import page_metadata
from resources.web.page_text import main_text, visible_text
from resources.web.page_title import document_title
from resources.web.robots_meta import robots_directives

PAGE = "https://e.example/dir/page.html"


def test_the_strictest_of_all_directives_holds() -> None:
    got = robots_directives(
        [("robots", "index, max-snippet:50"), ("MyBot", "noarchive"), ("otherbot", "noindex")],
        ["max-snippet: 20, otherbot: nofollow", "mybot: nosnippet"],
        "mybot",
    )
    assert (got.index, got.follow, got.archive, got.snippet, got.max_snippet) == (
        True,
        True,
        False,
        False,
        20,
    )


def test_a_date_with_commas_and_colons_is_one_value() -> None:
    line = "unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, nofollow"
    got = robots_directives([], [line], "mybot", now=2_000_000_000)
    assert not got.index and not got.follow and got.unavailable_after == 1277478000


@given(
    st.lists(st.tuples(st.text(max_size=20), st.text(max_size=40))),
    st.lists(st.text(max_size=60)),
    st.text(max_size=9),
)
def test_any_text_is_a_directive_or_nothing(metas: list[tuple[str, str]], tags: list[str], bot: str) -> None:
    robots_directives(metas, tags, bot)


@given(st.lists(st.text(st.sampled_from(list('<>;,="\\ rela/x')), max_size=40)))
def test_any_text_is_a_link_field_or_nothing(values: list[str]) -> None:
    for link in parse_link_header(values, PAGE):
        assert link.url.startswith("http")


def test_link_fields_name_relations_and_context() -> None:
    links = parse_link_header(
        ['<a>; rel="x canonical"; anchor="/o", <b?c,d>; title="q, \\"r\\""; rel=canonical'], PAGE
    )
    assert [link.url for link in links] == ["https://e.example/dir/a", "https://e.example/dir/b?c,d"]
    assert links[1].parameters["title"] == 'q, "r"'
    assert target_of(links, "canonical", PAGE) == "https://e.example/dir/b?c,d"
    assert target_of(links, "next", PAGE) is None


@pytest.mark.parametrize(
    ("title", "own"),
    [
        ("How to sow and reap the wheat | Farm", "How to sow and reap the wheat"),
        ("Farm - How to sow and reap the wheat - Farm", "Farm - How to sow and reap the wheat"),
        ("News: How the old mill was at last rebuilt", "How the old mill was at last rebuilt"),
        ("Short title", "Short title"),
        ("", ""),
    ],
)
def test_titles_without_the_name_of_the_site(title: str, own: str) -> None:
    assert (
        document_title(parse_html(f"<svg><title>no</title></svg><title>{title}</title>")) == own
        or title == ""
    )


def test_metadata_prefers_the_article_then_metas_then_the_document() -> None:
    tree = parse_html(
        b"""<html lang=en-GB dir=ltr><title>T of the page here now</title>
        <meta property="og:title article:author" content="OG"><meta name="DC.Creator" content="A &amp;amp; B">
        <meta name=description content=" some  words "><link rel=canonical href=/c>
        <script type=application/ld+json>{"@context": "https://schema.org", "@graph": [{"@type": "Person"},
        {"@type": ["NewsArticle"], "headline": "H", "datePublished": "2024-01-02", "publisher": {"name": "P"}}]}</script>
        <script type=application/ld+json>{broken</script>"""
    )
    got = page_metadata(tree, PAGE)
    assert (got.title, got.byline, got.description) == ("H", "A & B", "some words")
    assert (got.language, got.direction, got.canonical) == ("en-GB", "ltr", "https://e.example/c")
    assert (got.site_name, got.published_time) == ("P", "2024-01-02")


def test_visible_text_has_no_scripts_and_no_styles() -> None:
    tree = parse_html(
        b"<body>a<script>var s = 'a'</script><style>p{}</style><noscript>Turn <b>on</b></noscript><p>b&amp;c"
        b"<template>t</template><svg><title>no</title></svg>\n d <!-- no --></body>"
    )
    assert visible_text(tree) == "a b&c d"


def test_main_text_is_the_prose_and_keeps_words_whole() -> None:
    prose = (
        "<p>It was a <b>bright</b>, cold day in April, and the clocks were striking thir<i>teen</i>.</p>" * 8
    )
    tree = parse_html(
        f"<body><nav><a href=a>Home</a></nav><div id=sidebar><p>{'Buy now, buy more, buy it all. ' * 9}</p></div>"
        f"<div><h1>Title</h1>{prose}</div><footer>Imprint</footer>"
    )
    text = main_text(tree)
    assert text.startswith("Title It was a bright, cold day") and "thirteen. It was" in text
    assert "Buy now" not in text and "Imprint" not in text


@given(st.binary(max_size=300))
def test_any_bytes_have_metadata_and_text(markup: bytes) -> None:
    tree = parse_html(b"<body><p>" + markup)
    page_metadata(tree, PAGE)
    visible_text(tree)
    main_text(tree)
