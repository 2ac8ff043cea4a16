"""Sitemaps and feeds: nothing whole is lost, nothing hostile is obeyed, nothing ever raises."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.sitemaps import (
    Discovery,
    DiscoveryLimits,
    Document,
    Limits,
    Reader,
    entries,
    epoch,
    in_protocol_scope,
    normalise,
    parse,
)

URL = "https://shop.example/sitemap.xml"


def urlset(*locs: str, extra: str = "") -> bytes:
    inside = "".join(f"<url><loc>{escape(loc)}</loc>{extra}</url>\n" for loc in locs)
    return f'<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{inside}</urlset>'.encode()


def locs(document: Document) -> list[str]:
    return [entry.loc for entry in document.urls]


def pages(count: int) -> list[str]:
    return [f"https://shop.example/p/{n}" for n in range(count)]


FRAGMENTS = st.sampled_from(
    [
        "<urlset>", "<url>", "</url>", "<loc>", "</loc>", "https://shop.example/a", "&amp;", "&x;", "<!--", "-->",
        "<![CDATA[", "]]>", "<?xml ", "?>", '<!DOCTYPE x [<!ENTITY x "y">]>', "<!DOCTYPE", "<", ">", '"', "'", "<rss>",
        "<item>", "<link href='https://shop.example/b'/>", "<feed xmlns='http://www.w3.org/2005/Atom'>", "<entry>",
        "<image:image>", "<sitemap>", "<lastmod>2024", '{"items":[', '{"url":"https://shop.example/c"},', "\n", " ",
    ]
)  # fmt: skip


@given(
    st.one_of(st.binary(max_size=400), st.lists(FRAGMENTS, max_size=40).map(lambda p: "".join(p).encode()))
)
def test_any_bytes_are_read_without_an_exception_and_give_only_web_addresses(body: bytes) -> None:
    document = parse(body, URL)
    for entry in [*document.urls, *document.sitemaps]:
        assert entry.loc.startswith(("http://", "https://"))
        assert "#" not in entry.loc


@given(st.lists(FRAGMENTS, max_size=40).map(lambda p: "".join(p).encode()), st.integers(1, 7))
def test_how_the_bytes_are_cut_into_chunks_changes_nothing(body: bytes, size: int) -> None:
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    whole = parse(body, URL)
    streamed = [entry.loc for entry in entries(chunks, URL)]
    assert sorted(streamed) == sorted(entry.loc for entry in [*whole.urls, *whole.sitemaps])


@given(st.data())
def test_no_entry_that_is_complete_before_a_cut_is_lost(data: st.DataObject) -> None:
    body = urlset(*pages(20))
    cut = data.draw(st.integers(0, len(body)))
    complete = body[:cut].count(b"</loc>")
    assert locs(parse(body[:cut], URL)) == pages(20)[:complete]


@given(st.data())
def test_a_damaged_gzip_gives_what_stands_before_the_damage(data: st.DataObject) -> None:
    packed = gzip.compress(urlset(*pages(200)), mtime=0)
    at = data.draw(st.integers(12, len(packed) - 1))
    broken = packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1 :]
    stream = zlib.decompressobj(31)
    reachable = stream.decompress(packed[:at]).count(b"</loc>")
    assert locs(parse(broken, URL))[:reachable] == pages(200)[:reachable]


def test_a_broken_entry_hides_no_other() -> None:
    body = (
        b"<urlset><url><loc>https://shop.example/a?x=1&y=2</loc></url>"
        b"<url><loc>mailto:x@shop.example</loc></url><url><loc></loc></url><url>"
        b"<loc>https://shop.example/b<lastmod>2024-01-02</lastmod></url>"
        b"<url><loc>https://shop.example/c</loc><url><loc>https://shop.example/d</url></urlset>"
    )
    document = parse(body, URL)
    assert locs(document) == [f"https://shop.example/{p}" for p in ("a?x=1&y=2", "b", "c", "d")]
    assert document.urls[1].lastmod == "2024-01-02"
    assert any("mailto:" in problem for problem in document.problems)


def test_an_entity_bomb_stands_for_nothing() -> None:
    subset = '<!ENTITY a0 "aaaaaaaaaa">' + "".join(
        f'<!ENTITY a{n} "{"&a" + str(n - 1) + ";"}{"&a" + str(n - 1) + ";"}">' for n in range(1, 40)
    )
    bomb = f"<!DOCTYPE urlset [{subset}]><urlset><url><loc>https://shop.example/&a39;x</loc></url></urlset>"
    tracemalloc.start()
    document = parse(bomb.encode(), URL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert locs(document) == ["https://shop.example/x"]
    assert peak < 1_000_000
    assert any("refused" in problem for problem in document.problems)


def test_external_entities_are_never_read_and_flat_ones_are() -> None:
    subset = '<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY shop "shop.example">'
    body = f"<!DOCTYPE urlset [{subset}]><urlset><url><loc>https://&shop;/&file;a</loc></url></urlset>"
    assert locs(parse(body.encode(), URL)) == ["https://shop.example/a"]


def test_a_gzip_bomb_is_read_up_to_the_limit_in_bounded_memory() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = packer.compress(urlset("https://shop.example/a"))
    for _ in range(80):
        body += packer.compress(b" " * 1_000_000)
    body += packer.flush()
    tracemalloc.start()
    document = parse(body, URL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert locs(document) == ["https://shop.example/a"]
    assert peak < 10_000_000
    assert any("larger than" in problem for problem in document.problems)


@pytest.mark.parametrize(
    "hostile",
    [
        b"<urlset>" + b"<a>" * 200_000,
        b"<urlset>" + b'<a b="' * 100_000,
        b"<urlset><url><loc>" + b"&" * 500_000,
        b"<urlset>" + b"<!--" * 100_000,
        b"<!DOCTYPE x [" + b"<!ENTITY a 'b'>" * 50_000,
        b"<urlset>" + b"<![CDATA[" * 100_000,
        b"<urlset>" + b"<?" * 200_000,
        b"<urlset>" + b"</a" * 200_000,
        b"<rss><item><link>" + b"x" * 1_000_000,
        b'{"items":' + b"[" * 200_000,
        b"\xff\xfe" + b"<" * 100_000,
    ],
)
def test_hostile_files_are_read_in_linear_time_and_bounded_memory(hostile: bytes) -> None:
    tracemalloc.start()
    parse(hostile, URL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_caps_keep_what_was_read_and_say_so() -> None:
    body = urlset(*pages(10))
    few = parse(body, URL, limits=Limits(entries=3))
    assert locs(few) == pages(3)
    assert few.problems == ["more than 3 entries: the rest is not read"]
    short = parse(body, URL, limits=Limits(bytes=300))
    assert 0 < len(short.urls) < 10
    assert locs(short) == pages(10)[: len(short.urls)]


@given(st.integers(0, 12), st.integers(1, 50))
def test_reading_resumes_at_an_entry(start: int, size: int) -> None:
    body = gzip.compress(urlset(*pages(10)), mtime=0)
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    assert [entry.loc for entry in entries(chunks, URL, start=start)] == pages(10)[start:]


def test_entries_come_before_the_end_of_the_stream() -> None:
    reader = Reader(URL)
    first = list(reader.feed(urlset(*pages(1_000))[:-200]))
    assert len(first) > 900
    assert reader.kind == "urlset"


def test_bytes_decide_what_it_is_and_the_content_type_does_not() -> None:
    assert parse(b"<!doctype html><title>Not found</title>", URL, "application/xml").kind == "not_a_sitemap"
    assert parse(gzip.compress(urlset(*pages(1))), URL, "text/html").kind == "urlset"
    assert parse(b"https://shop.example/a\nhttps://shop.example/b", URL, "text/html").kind == "text"
    assert parse(b"Warning: x in y.php\n" + urlset(*pages(2)), URL).kind == "urlset"
    assert parse(b'{"error": "no such page"}', URL).kind == "not_a_sitemap"


def test_a_wrongly_declared_encoding_costs_nothing() -> None:
    text = '<?xml version="1.0" encoding="iso-8859-1"?><urlset><url><loc>/caf\u00e9</loc></url></urlset>'
    expected = ["https://shop.example/caf%C3%A9"]
    assert locs(parse(text.encode("utf-8"), URL)) == expected
    assert locs(parse(text.encode("latin-1"), URL)) == expected
    assert locs(parse(text.replace("iso-8859-1", "utf-8").encode("latin-1"), URL)) == expected
    assert locs(parse(text.encode("utf-16"), URL)) == expected


def test_atom_links_resolve_against_xml_base() -> None:
    body = (
        b'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://shop.example/blog/"><entry xml:base="2024/">'
        b'<link href="a"/></entry><entry><link rel="alternate" href="b"/></entry></feed>'
    )
    assert locs(parse(body, URL)) == ["https://shop.example/blog/2024/a", "https://shop.example/blog/b"]


def test_an_item_without_a_link_element_is_found_by_what_else_names_it() -> None:
    items = (
        "<item><link/>https://shop.example/a</item><item><guid>https://shop.example/b</guid></item>"
        '<item rdf:about="https://shop.example/c"/><item><guid>7</guid></item>'
    )
    document = parse(f"<rss><channel><link>https://shop.example/</link>{items}</channel></rss>".encode(), URL)
    assert locs(document) == [f"https://shop.example/{name}" for name in "abc"]
    assert document.problems == ["an item names no page: dropped"]


def test_problems_show_no_credentials() -> None:
    document = parse(b"<urlset><url><loc>ftp://me:secret@shop.example/a</loc></url></urlset>", URL)
    assert "shop.example" in document.problems[0]
    assert "secret" not in document.problems[0]


def test_a_json_feed_that_is_cut_keeps_its_whole_items() -> None:
    body = (
        b'{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"https://shop.example/a"},{"url":"ht'
    )
    document = parse(body, URL)
    assert (document.kind, locs(document)) == ("json_feed", ["https://shop.example/a"])


@given(st.datetimes())
def test_every_instant_survives_its_w3c_spelling(when: object) -> None:
    text = str(when)[:19].replace(" ", "T") + "Z"
    assert normalise(text) == text


@given(st.text(max_size=70))
def test_no_text_breaks_the_date_reader(text: str) -> None:
    assert (epoch(text) is None) == (normalise(text) is None)


def test_impossible_dates_are_none() -> None:
    for text in (
        "2024-02-30",
        "20240506",
        "06.05.2024",
        "1714979289",
        "2024-05-06T25:00Z",
        "05 Jan 17 13:34:55",
    ):
        assert epoch(text) is None
    assert epoch("2024-05-06T07:08:09+02:00") == 1_714_972_089
    assert epoch("Thu, 05 Jan 17 13:34:52 +0100") == 1_483_619_692


def index(*children: str) -> Document:
    inside = "".join(f"<sitemap><loc>{child}</loc></sitemap>" for child in children)
    return parse(f"<sitemapindex>{inside}</sitemapindex>".encode(), "https://shop.example/index.xml")


def test_cyclic_indexes_end_and_spellings_of_one_address_are_one() -> None:
    discovery = Discovery("https://shop.example/", ["https://shop.example/a.xml"])
    fetched = []
    while (url := discovery.next()) is not None:
        fetched.append(url)
        discovery.found(
            url, index("https://SHOP.example:443/a.xml", "/b.xml#x", "https://shop.example/./b.xml")
        )
    assert fetched == ["https://shop.example/a.xml", "https://shop.example/b.xml"]


def test_another_host_counts_only_when_robots_names_it() -> None:
    discovery = Discovery("https://shop.example/", ["https://cdn.example/s.xml"])
    assert discovery.pending() == ["https://cdn.example/s.xml"]
    assert discovery.accepts("https://cdn.example/s.xml", "https://shop.example/a")
    assert not discovery.accepts("https://cdn.example/s.xml", "https://third.example/a")
    assert discovery.found("https://cdn.example/s.xml", index("https://third.example/x.xml")) == []
    assert "third.example" in discovery.problems[0]


def test_depth_and_number_are_bounded() -> None:
    discovery = Discovery(
        "https://shop.example/", ["https://shop.example/0.xml"], limits=DiscoveryLimits(3, 1_000)
    )
    fetches = 0
    while (url := discovery.next()) is not None:
        fetches += 1
        discovery.found(url, index(f"https://shop.example/{fetches}.xml"))
    assert fetches == 4
    wide = Discovery("https://shop.example/", pages(50), limits=DiscoveryLimits(3, 5))
    assert len(wide.pending()) == 5


def test_an_answer_says_whether_last_nights_list_stands() -> None:
    assert Discovery.answered(200).action == "read"
    assert Discovery.answered(304).action == "keep"
    assert Discovery.answered(410).action == "forget"
    assert Discovery.answered(429, 30.0).retry_after_s == 30.0
    assert Discovery.answered(0).action == "keep"


def test_the_protocols_scope_is_the_directory() -> None:
    assert in_protocol_scope("https://shop.example/a/s.xml", "https://shop.example/a/b")
    assert not in_protocol_scope("https://shop.example/a/s.xml", "https://shop.example/ab")
    assert not in_protocol_scope("https://shop.example/a/s.xml", "http://shop.example/a/b")
