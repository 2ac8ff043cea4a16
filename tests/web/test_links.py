"""Links of pages: what counts as one, what it resolves to, and that no page can hurt the process."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.web import urls
from resources.web.html_document import bounded, parse_html
from resources.web.links import MAX_LINKS, document_base, extract
from resources.web.meta_refresh import read_refresh
from resources.web.outlinks import LinkMemo, outlinks, read_outlinks
from resources.web.srcset import srcset_urls

PAGE = "https://e.example/dir/page.html"

FRAGMENTS = st.lists(
    st.sampled_from(
        [
            b"<a href=a>", b"<a href='?q=\xc3\xbc#x' rel=nofollow>", b"</a>", b"<base href=//o.example/>",
            b"<area href=b>", b"<template><a href=t>", b"</template>", b"<script>", b"</script>", b"<svg>",
            b"<a xlink:href=s>", b"<noscript>", b"<table><td>", b"<select><option>", b"<!--", b"-->", b"<a href>",
            b"<img srcset='a 1x, b 2x'>", b"<meta http-equiv=refresh content='0;url=n'>", b"<link rel=canonical href=c>",
            b"<a href='http://[broken'>", b"<iframe src=f>", b"\xff\xfe", b"\x00", b"text", b"<title>", b"<p>",
        ]
    ),
    max_size=20,
).map(b"".join)  # fmt: skip


@given(FRAGMENTS | st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes_give_links_and_both_readings_agree(markup: bytes) -> None:
    tree = parse_html(markup)
    found = extract(tree, PAGE)
    assert [(urls.canonical(link.url), link.nofollow) for link in found.links] == outlinks(tree, PAGE)


def test_a_link_is_nofollow_only_if_every_anchor_to_it_says_so() -> None:
    tree = parse_html(
        b"<a href=a rel=nofollow>1</a><a href='a#x' rel='me NoFollow'>2</a><a href=b rel=nofollow><a href=./b>"
    )
    assert outlinks(tree, PAGE) == [("https://e.example/dir/a", True), ("https://e.example/dir/b", False)]


PIECES = st.sampled_from(
    [
        "a",
        "b.html",
        "/",
        "..",
        ".",
        "?q=1",
        "#f",
        ":",
        "http:",
        "https://",
        "http://o.example",
        "//o.example",
        "\\",
        "\t",
        " ",
        "",
        "é",
        "%7e",
        "@",
        "mailto:x",
    ]
)
REFERENCES = st.lists(PIECES, max_size=4).map("".join)
PAGES = st.sampled_from(
    [
        "http://e.example/",
        "http://e.example/a",
        "http://e.example/a/",
        "http://e.example/a/b?x=/y/",
        "https://e.example/a/c",
    ]
)


@given(
    st.lists(
        st.tuples(PAGES, st.lists(REFERENCES, max_size=4), st.sampled_from(["", "/b/", "//o.example/"])),
        max_size=8,
    )
)
@settings(max_examples=300)
def test_what_is_remembered_of_other_pages_changes_no_link(pages: list[tuple[str, list[str], str]]) -> None:
    memo = LinkMemo(room=5)
    for url, references, base in pages:
        anchors = "".join(f"<a href='{each}'>x</a>" for each in references)
        tree = parse_html(f"<base href='{base}'>{anchors}" if base else anchors)
        remembering = read_outlinks(tree, url, memo=memo, domain="e.example").links
        assert remembering == outlinks(tree, url)


def test_the_memory_of_addresses_is_bounded_and_keeps_what_is_asked_for() -> None:
    memo = LinkMemo(room=10)
    for number in range(100):
        tree = parse_html(f"<a href=/home>x</a><a href=/{number}>y</a>")
        assert len(read_outlinks(tree, PAGE, memo=memo, domain="e.example").links) == 2
        known, older = memo.folder("e.example", PAGE) or ({}, {})
        assert len(known) <= 12 and len(older) <= 12
        assert "/home" in known or "/home" in older


def test_text_alt_rel_and_element_of_a_link() -> None:
    tree = parse_html(
        b"<a href=a rel='B a'> x <b>y</b>\n z</a><a href=b><img alt=' A  pic ' src=p></a><area href=c alt=C>"
    )
    a, b, c = extract(tree, PAGE).links
    assert (a.text, a.rel, a.element) == ("x y z", ("a", "b"), "a")
    assert (b.text, b.alt) == ("", "A pic")
    assert (c.alt, c.element) == ("C", "area")


def test_frames_are_links_when_asked() -> None:
    tree = parse_html(b"<iframe src=f></iframe><iframe src=about:blank></iframe><a href=a>x</a>")
    assert [link.url for link in extract(tree, PAGE).links] == ["https://e.example/dir/a"]
    both = extract(tree, PAGE, frames=True)
    assert [link.element for link in both.links] == ["a", "iframe"]
    assert both.frames == ["https://e.example/dir/f"]


def test_the_svg_way_of_linking() -> None:
    assert outlinks(parse_html(b"<svg><a xlink:href=s><text>x</text></a></svg>"), PAGE) == [
        ("https://e.example/dir/s", False)
    ]


def test_a_base_in_noscript_does_not_move_the_links() -> None:
    tree = parse_html(b"<body><noscript><base href=https://o.example/></noscript><a href=a>x</a>")
    assert document_base(tree, PAGE) == PAGE


def test_the_number_of_links_of_a_page_is_bounded() -> None:
    tree = parse_html(b"".join(b"<a href=/%d>" % n for n in range(MAX_LINKS + 10)))
    assert len(outlinks(tree, PAGE)) == MAX_LINKS
    found = extract(tree, PAGE)
    assert len(found.links) == MAX_LINKS and found.truncated


def test_an_address_longer_than_any_server_takes_is_left_out() -> None:
    tree = parse_html(b"<a href=/" + b"a" * 9000 + b">x</a><a href=b>y</a>")
    assert outlinks(tree, PAGE) == [("https://e.example/dir/b", False)]
    assert len(extract(tree, PAGE).links) == 1


HOSTILE = {
    "depth": "b'<div>' * 400_000",
    "depth behind end tags of nothing": "b'<div></x>' * 150_000",
    "depth behind comments": "b'<div><!--</div>-->' * 70_000",
    "depth behind attributes": "b'<div x=\"</div>\">' * 70_000",
    "formatting": "b'<p>' + b''.join(b'<b id=%d>' % i for i in range(20_000)) + b'<p>x' * 20_000",
    "foreign depth": "b'<svg>' + b'<td>' * 150_000",
    "links": "b''.join(b'<a href=/%d>x</a>' % i for i in range(100_000))",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_neither_crash_nor_hang_nor_fill_the_memory(name: str) -> None:
    """In a process of its own, with 2 GB of address space: a crash or a hang there is a failure here."""
    program = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from resources.web.html_document import parse_html
from resources.web.links import extract
from resources.web.outlinks import outlinks
from resources.web.page_metadata import page_metadata
from resources.web.page_text import main_text, visible_text
tree = parse_html({HOSTILE[name]})
outlinks(tree, "{PAGE}"), extract(tree, "{PAGE}"), page_metadata(tree, "{PAGE}"), visible_text(tree), main_text(tree)
del tree
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "done\n", done.stderr[-2000:]


def test_large_honest_pages_are_not_cut() -> None:
    row = b"<tr><td class=x>cell<td><b>bold</b> <a href=p>link</a><td><input name=n><br>\n"
    page = b"<table>" + row * 20_000 + b"</table>"
    assert bounded(page) == page
    font = b"<p><font size=2>unclosed <font color=red>" * 3_000
    assert bounded(font) == font


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("a 1x, b 2x", ["a", "b"]),
        ("a,b 100w,c", ["a,b", "c"]),
        ("a 1x 2x, b 100w 50h, c 0w, d 1.5e1x", ["b", "d"]),
        (" , ,a", ["a"]),
        ("a (1x, 2x), b", ["b"]),
        ("", []),
    ],
)
def test_srcset_candidates(value: str, found: list[str]) -> None:
    assert srcset_urls(value) == found


@given(st.text(max_size=40))
def test_srcset_and_refresh_take_any_text(value: str) -> None:
    srcset_urls(value)
    read_refresh(value, PAGE, PAGE)
