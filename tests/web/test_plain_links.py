"""A plain page's links, read from its tags, are those of its tree; what is not plain is left to the parser."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from resources.crawler.read_page import SMALL_TREE, ReadTask, read_task
from resources.web.html_document import cut_of, parse_html
from resources.web.outlinks import LinkMemo, plain_outlinks, read_outlinks
from resources.web.plain_links import TagMemo, read_plain
from resources.web.plain_markup import plain_tags
from resources.web.url_policy import DEFAULT_POLICY
from tests.conformance.runner import data_folder

PAGE = "https://e.example/dir/page"


def by_tags(
    markup: bytes, memo: LinkMemo | None = None
) -> tuple[list[tuple[str, bool]], list[tuple[str, str]]] | None:
    found = plain_outlinks(markup, PAGE, "utf-8", DEFAULT_POLICY, memo=memo or LinkMemo(), domain="e.example")
    return None if found is None else (found.links, found.metas)


def by_tree(markup: bytes) -> tuple[list[tuple[str, bool]], list[tuple[str, str]]]:
    found = read_outlinks(parse_html(markup), PAGE, "utf-8", DEFAULT_POLICY)
    return found.links, found.metas


PLAIN = {
    "links with and without other attributes": '<p class="x"><a href="a">1</a> <a class="y" href="b" title="t = 1">2</a>',
    "one address twice, the second time with nofollow": '<a href="a">x</a><a href="a" rel="nofollow">x</a>',
    "nofollow every time": '<a href="a" rel="me NoFollow">x</a><a rel="nofollow" href="a#f">x</a>',
    "anchors that lead nowhere": '<a name="x"></a><a></a><a id="y">y</a><a href="a">x</a>',
    "areas": '<map><area href="a" alt=""><area nohref></map><article><a href="b">x</a></article>',
    "values in single quotes and without": "<a href='a'>x</a> <a href=b class=c>x</a> <a href=c/>x</a>",
    "blanks of all kinds": '<a\n\thref="a"\n >x</a><a\fhref="b"\r>x</a>',
    "two addresses on one tag: the first": '<a href="a" href="b">x</a>',
    "names in capitals": '<a HREF="a">x</a><a CLASS="c" Href="b">x</a>',
    "character references": '<a href="?a=1&amp;b=2">x</a><a href="?a&copy=1">x</a><a href="&#x62;">x</a><a href="c&eacute;">x</a>',
    "text with quotes, equals and brackets": 'x="1 > 0" and \'y\' <a href="a">x</a> = "',
    "raw text that looks like links": '<title><a href="t"></title><script>"<a href=\'s\'>"</script><style><a href="y"></style>'
    '<textarea><a href="x"></textarea><iframe><a href="i"></iframe><a href="a">x</a>',
    "comments and declarations": '<!DOCTYPE html PUBLIC "-//W3C//DTD"><?xml version="1.0"?><!-- <a href="c"> -- > --><a href="a">x</a>',
    "an image of lines": '<svg viewBox="0 0 1 1"><title>icon</title><path d="M0"/></svg><a href="a">x</a>',
    "a form": '<select name="s"><option value="a">a</option></select><a href="a">x</a>',
    "noscript": '<noscript><iframe src="i"></iframe><a href="a">x</a></noscript>',
    "in tables and lists": '<table><tr><td><a href="a">x</a></td></tr></table><ul><li><a href="b">x</a><li></ul>',
    "unclosed": '<p><a href="a">x<p>y<div><a href="b">z',
    "addresses in other letters": '<a href="é/ü">x</a>',
    "metas": '<meta charset="utf-8"><meta name="robots" content="noindex,follow"><meta content="&quot;x&quot;" name="description">'
    '<meta property="og:x" content="y"><a href="a">x</a>',
    "slashes": '<br/><img src="i" /><a href="a"/>x</a>',
}  # fmt: skip


@pytest.mark.parametrize("markup", PLAIN.values(), ids=PLAIN.keys())
def test_a_plain_page_is_read_as_its_tree_would_be(markup: str) -> None:
    octets = f"<html><body>{markup}".encode()
    found = by_tags(octets)
    assert found is not None and found == by_tree(octets)
    assert found[0], "there is a link in each"


NOT_PLAIN = {
    "a base": '<base href="/b/"><a href="a">x</a>',
    "names of tags in capitals": '<A href="a">x</A>',
    "a capital further on": '<scRipt></scRipt><a href="a">x</a>',
    "a bracket in text": 'a < b <a href="a">x</a>',
    "markup in a value": '<p title="<a href=y>"><a href="a">x</a>',
    "an end of a tag in a value": '<p title="a > b" class="c"><a href="a">x</a>',
    "a comment in a value": '<p title="<!-- x -->"><a href="a">x</a><!-- -->',
    "a declaration in an address": '<a href="a<!doctype html>b">x</a>',
    "quotes that do not add up": '<p title="a><a href="a">x</a>',
    "a bracket in single quotes": "<p title='a > b'><a href='a'>x</a>",
    "a slash before the address": '<a/href="a">x</a>',
    "attributes that do not stand apart": '<a class="c"href="a">x</a>',
    "blanks around the equals sign": '<a href = "a">x</a>',
    "a link in an image": '<svg><a href="a">x</a></svg>',
    "a link in a choice": '<select><a href="a">x</a></select>',
    "raw text in an image": '<svg><style><a href="b"></style></svg><a href="a">x</a>',
    "an image without end": '<svg><path d=""><a href="a">x</a>',
    "an image that outlasts what it began in": '<math><body><svg></math><style><a href="a"></style></svg>',
    "an image in an image": '<svg><svg></svg><title><a href="a"></title></svg>',
    "a template": '<template><a href="b">x</a></template><a href="a">x</a>',
    "plain text to the end": '<a href="a">x</a><plaintext><a href="b">',
    "frames": '<frameset><frame src="f"></frameset><noframes><a href="a"></noframes>',
    "raw text without end": '<a href="a">x</a><script>',
    "raw text that ends in capitals": '<script>x</SCRIPT><a href="a">x</a><script></script>',
    "a name that only begins as the end": '<title>x</titles><a href="a">x</a></title>',
    "a comment in a script": '<script><!-- <script></script> --></script><a href="a">x</a>',
    "a comment without end": '<a href="a">x</a><!-- ',
    "a comment that ends at once": '<!--><a href="a">x</a>-->',
    "a comment that ends otherwise": '<!-- --!><a href="a">x</a>-->',
    "data": '<![CDATA[ <a href="b"> ]]><a href="a">x</a>',
    "a bogus comment": '</ <a href="b"><a href="a">x</a>',
    "nothing": "\0" * 20,
    "very little": "<a href=a>",
}  # fmt: skip


@pytest.mark.parametrize("markup", NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_what_only_a_tree_can_tell_is_left_to_it(markup: str) -> None:
    assert by_tags(markup.encode()) is None


TOO_MUCH = {
    "depth": "<div>" * 60_000 + '<a href="a">x</a>',
    "formatting left open": "".join(f'<font class="f{n}">' for n in range(4_000)) + "<p>x" * 4_000,
    "attributes": "<p " + " ".join(f"a{n}" for n in range(60_000)) + '><a href="a">x</a>',
}


@pytest.mark.parametrize("markup", TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_a_page_that_the_parser_would_cut_is_left_to_it_and_the_cut_is_told(markup: str) -> None:
    octets = f"<html><body>{markup}".encode()
    assert cut_of(octets) is not None
    assert by_tags(octets) is None
    cleared = f"<html><head><title>Rows</title></head><body>{'<p>row</p>' * 400}{markup}".encode()
    assert "not read" in read_task(task(cleared), LinkMemo()).cut


FRAGMENTS = st.sampled_from(
    [
        *PLAIN.values(), *NOT_PLAIN.values(),
        "<!-- ", " -->", "--!>", "<!-->", "<script>", "</script>", "</scRipt>", "<style>", "</style >", "<title>", "</title>",
        "<textarea>", "</textarea>", "<svg>", "</svg>", "<math>", "</math>", "<select>", "</select>", "<option>", "<template>",
        "</template>", "<noscript>", "</noscript>", '<iframe src="q">', "</iframe>", "<xmp>", "</xmp>", "<table>", "<tr>", "<td>",
        "</table>", "<caption>", "<col>", "<b>", "</b>", "<i>", "</p>", "<form>", "<button>", "<h1>", "<image>", "<desc>",
        "<foreignObject>", "<head>", "</head>", "<body>", "</body>", "</html>", "<nobr>", "</a>", "<br/>", ">", "</", "<!", "<?",
        "<![CDATA[", "]]>", "&amp;", "\r", " ", "\n", "text", "</titl", "<input value='<'>", '<p class="a" data-x=\'y\'>',
    ]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=12).map("".join))
@settings(max_examples=600, deadline=None)
@example('<select><title><a href="a"></title></select>')
@example('<svg><title></svg><a href="a"></title>')
@example('<math><mtext><a href="a">x</a></mtext></math>')
def test_whatever_is_read_from_tags_is_what_the_tree_says(markup: str) -> None:
    octets = f"<html><body> {markup}".encode()
    found = by_tags(octets)
    if found is not None:
        links, metas = by_tree(octets)
        # A tree moves what stands in a broken table before it.
        assert sorted(found[0]) == sorted(links)
        assert found[1] == metas


def test_real_pages_are_read_as_their_trees_would_be() -> None:
    folder = data_folder()
    pages = sorted([*folder.glob("07-html/pages/*.htm*"), *folder.glob("08-structured-data/files/*.htm*")])
    if not pages:
        pytest.skip(
            f"no conformance data at {folder}: set NIGHTCRAWL_CONFORMANCE to the folder that holds it"
        )
    rng = random.Random(4)
    plain = 0
    for page in pages:
        whole = page.read_bytes().decode("utf-8", "replace").encode()
        # Also cut anywhere, as connections do.
        for end in (len(whole), *(rng.randrange(len(whole)) for _ in range(8))):
            found = by_tags(whole[:end])
            if found is not None:
                plain += 1
                links, metas = by_tree(whole[:end])
                assert sorted(found[0]) == sorted(links), page
                assert found[1] == metas, page
    assert plain > len(pages)


def task(body: bytes, *, status: int = 200, obey: bool = True) -> ReadTask:
    return ReadTask(
        body, "utf-8", "header", PAGE, status, (("content-type", "text/html"),), "e.example", DEFAULT_POLICY, "bot", obey, False,
    )  # fmt: skip


@pytest.mark.parametrize("directive", ["all", "nofollow"])
@pytest.mark.parametrize("obey", [True, False])
def test_a_page_says_the_same_read_in_either_way(directive: str, *, obey: bool) -> None:
    rows = "".join(
        f'<p><a href="{n}" rel="{"nofollow" if n % 3 == 0 else "me"}">row {n}</a></p>' for n in range(400)
    )
    body = f'<html><head><title>Rows</title><meta name="robots" content="{directive}"></head><body>{rows}</body></html>'
    assert len(body) > SMALL_TREE and by_tags(body.encode()) is not None
    assert read_task(task(body.encode(), obey=obey), LinkMemo()) == read_task(task(body.encode(), obey=obey))


def test_a_site_whose_pages_are_never_plain_is_hardly_looked_at() -> None:
    memo = LinkMemo()
    looks = 0
    for _ in range(400):
        looks += memo.may_be_plain("e.example")
        by_tags(b"<A href=a>not plain", memo)
    assert looks < 40
    assert memo.may_be_plain("other.example")
    for _ in range(40):  # the site was made anew
        by_tags(b'<html><a href="a">plain</a>', memo)
    assert memo.may_be_plain("e.example")


def test_tags_are_remembered_within_bounds() -> None:
    memo = TagMemo(room=10)
    for number in range(100):
        assert read_plain(f"<html><a href='/{number}'>x</a><a href='/home'>y</a>".encode(), memo) is not None
    assert len(memo.known) <= 10


HOSTILE = {
    "images": (b"", b"<svg>", b""),
    "images that end": (b"", b"<svg></svg", b""),
    "links without end in an image": (b"<svg>", b"<a ", b"</svg>"),
    "links without end": (b"", b"<a href=", b""),
    "names without end": (b"", b"<st", b""),
    "scripts": (b"", b"<script>", b""),
    "comments": (b"", b"<!--", b"-->"),
    "metas": (b"", b"<meta ", b">"),
    "choices that end otherwise": (b"", b"<select></svg>", b""),
    "values": (b"", b'<p a="', b'">'),
    "titles": (b"", b"<title>x</titl", b"</title>"),
    "declarations": (b"", b"<!doctype ", b">"),
}


@pytest.mark.parametrize("parts", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_markup_takes_linear_time(parts: tuple[bytes, bytes, bytes]) -> None:
    begin, piece, end = parts
    piece += b"x" * 200  # else there are so many tags that the bounds of the parser forbid to look

    def seconds(size: int) -> float:
        markup = begin + piece * (size // len(piece)) + end
        started = time.process_time()
        plain_tags(markup)
        return time.process_time() - started

    small = max(min(seconds(100_000) for _ in range(3)), 0.001)
    assert min(seconds(1_600_000) for _ in range(2)) < 16 * small * 6, "a square would be 256 times as much"
