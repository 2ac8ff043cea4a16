"""URLs: one parser, one canonical form, keys that stay the same, and nothing that raises or leaks."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from resources.web import urls, whatwg_url
from resources.web.query_encoding import encode_query
from resources.web.tracking_parameters import TRACKING_PARAMETERS
from resources.web.urls import UrlPolicy

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)
HOSTILE = st.text(
    st.sampled_from(list("%aAfF0123459e.~-_/\\?#&=+;:@[] \t\n'\"<>^`{|}é\ud800日ßK")), max_size=40
)
REFS = ANY_TEXT | HOSTILE
POLICIES = st.builds(
    UrlPolicy,
    sort_query=st.booleans(),
    drop_parameters=st.sampled_from([(), ("a",), ("a*", "sid")]),
    keep_parameters=st.sampled_from([None, ("id", "p*")]),
    drop_tracking=st.booleans(),
    trailing_slash=st.sampled_from(["keep", "strip", "add"]),
    index_pages=st.sampled_from([(), ("index.html", "a")]),
    keep_blank=st.booleans(),
    drop_query=st.booleans(),
)


@given(REFS)
def test_joining_any_text_gives_an_absolute_ascii_http_url_or_nothing(ref: str) -> None:
    url = urls.join("https://e.example/dir/page?q#f", ref)
    assert url is None or (url.isascii() and url.startswith(("http://", "https://")))
    assert urls.joiner("https://e.example/dir/page?q#f")(ref) == url


@given(REFS, REFS)
def test_joining_to_a_base_that_is_no_url_never_raises(base: str, ref: str) -> None:
    urls.join(base, ref)
    urls.parse(ref, base)


@given(HOSTILE, POLICIES)
@example("index.html/", UrlPolicy(trailing_slash="strip", index_pages=("index.html",)))
def test_the_canonical_form_is_idempotent_and_its_key_stable(rest: str, policy: UrlPolicy) -> None:
    once = urls.canonical(f"https://e.example/{rest}", policy)
    if once is not None:
        assert urls.canonical(once, policy) == once
        assert urls.canonical_of_joined(once, policy) == once
        assert urls.key(once) == urls.key(urls.canonical(once, policy) or "")
        assert len(urls.key(once)) == 16


@given(REFS, POLICIES)
def test_no_text_makes_the_canonical_form_raise(text: str, policy: UrlPolicy) -> None:
    found = urls.canonical(text, policy)
    assert found is None or "#" not in found
    urls.redact(text)
    urls.url_without_credentials(text)
    urls.domain_of(text)


@given(HOSTILE)
def test_the_canonical_form_asks_the_server_for_the_same_bytes(rest: str) -> None:
    """Decoding every escape of the canonical path gives what decoding the original path gives."""
    from urllib.parse import unquote_to_bytes

    parsed = urls.parse(f"https://e.example/{rest}")
    if parsed is None or parsed.domain != "e.example":
        return
    again = urls.parse(urls.canonical(parsed.href, UrlPolicy(drop_tracking=False)) or "")
    assert again is not None
    assert unquote_to_bytes(again.path) == unquote_to_bytes(parsed.path)
    assert (again.query is None) == (parsed.query is None)
    assert unquote_to_bytes(again.query or "") == unquote_to_bytes(parsed.query or "")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("HTTP://E.Example", "http://e.example/"),
        ("https://e.example:443/", "https://e.example/"),
        ("http://e.example/%7ea/%3a", "http://e.example/~a/%3A"),
        ("http://user:secret@e.example/#top", "http://e.example/"),
        ("http://127.1/", "http://0x7f.0.0.1/"),
        ("http://e.example/?id=5&utm_source=x", "http://e.example/?id=5"),
    ],
)
def test_what_is_the_same(a: str, b: str) -> None:
    assert urls.canonical(a) == urls.canonical(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("http://e.example:443/", "http://e.example/"),
        ("http://e.example/a", "http://e.example/a/"),
        ("http://e.example/?b=2&a=1", "http://e.example/?a=1&b=2"),
        ("http://e.example/?a", "http://e.example/?a="),
        ("http://e.example/a%2Fb", "http://e.example/a/b"),
        ("http://e.example/A", "http://e.example/a"),
        ("http://e.example/?", "http://e.example/"),
        ("http://e.example/?phpsessid=1", "http://e.example/"),
        ("http://e.example/?q=a+b", "http://e.example/?q=a%20b"),
    ],
)
def test_what_is_not_the_same_by_default(a: str, b: str) -> None:
    assert urls.canonical(a) != urls.canonical(b)


def test_a_stray_percent_sign_never_becomes_part_of_an_escape() -> None:
    assert urls.canonical("http://e.example/%%341") == "http://e.example/%%341"
    assert urls.canonical("http://e.example/%6%31") == "http://e.example/%6%31"
    assert urls.canonical("http://e.example/%41%42") == "http://e.example/AB"


def test_what_a_site_may_say() -> None:
    url = "http://e.example/a/index.html?b=2&a=1&sessid=9&x="
    assert (
        urls.canonical(url, UrlPolicy(sort_query=True)) == "http://e.example/a/index.html?a=1&b=2&sessid=9&x="
    )
    assert (
        urls.canonical(url, UrlPolicy(drop_parameters=("sess*",)))
        == "http://e.example/a/index.html?b=2&a=1&x="
    )
    assert urls.canonical(url, UrlPolicy(keep_parameters=("a",))) == "http://e.example/a/index.html?a=1"
    assert (
        urls.canonical(url, UrlPolicy(keep_blank=False)) == "http://e.example/a/index.html?b=2&a=1&sessid=9"
    )
    assert urls.canonical(url, UrlPolicy(drop_query=True)) == "http://e.example/a/index.html"
    index = UrlPolicy(index_pages=("index.html",), trailing_slash="strip", drop_query=True)
    assert urls.canonical(url, index) == "http://e.example/a"
    assert urls.canonical("http://e.example/a?q", UrlPolicy(trailing_slash="add")) == "http://e.example/a/?q"
    assert (
        urls.canonical("http://e.example/a.txt", UrlPolicy(trailing_slash="add")) == "http://e.example/a.txt"
    )


def test_a_policy_survives_pickling_with_its_value_and_hash() -> None:
    policy = UrlPolicy(drop_parameters=("a*",))
    assert policy.touches_query
    again = pickle.loads(pickle.dumps(policy))
    assert again == policy and hash(again) == hash(policy)
    assert urls.canonical("http://e.example/?ab=1", again) == "http://e.example/"


def test_names_that_may_select_content_are_not_tracking() -> None:
    content = "ref source campaign keyword session id uid cid eid page lang v s q p tag affiliate medium referrer sid"
    assert not TRACKING_PARAMETERS.intersection(content.split())


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://BÜCHER.example:443/x", "xn--bcher-kva.example"),
        ("http://e.example:8080/", "e.example:8080"),
        ("http://[0:0::1]:81/", "[::1]:81"),
        ("http://2130706433/", "127.0.0.1"),
        ("mailto:a@e.example", None),
        ("nothing", None),
    ],
)
def test_the_domain_is_host_and_port(url: str, domain: str | None) -> None:
    assert urls.domain_of(url) == domain


def test_secrets_do_not_reach_logs() -> None:
    assert urls.redact("https://me:pw@e.example/a?id=1&api_key=abc&Access-Token=d#frag") == (
        "https://e.example/a?id=1&api_key=***&Access-Token=***"
    )
    assert urls.url_without_credentials("https://a@b@e.example/x@y") == "https://e.example/x@y"
    assert "pw" not in urls.redact("not a url://me:pw@host")
    assert len(urls.redact("https://e.example/" + "a" * 5000)) == 300


@pytest.mark.parametrize(
    ("text", "encoding", "escaped"),
    [
        ("ü", "windows-1252", "%FC"),
        ("ü", "iso-8859-1", "%FC"),
        ("日", "windows-1252", "%26%2326085%3B"),
        ("€", "gbk", "%80"),
        ("ü", "utf-16le", "%C3%BC"),
        ("ü", "no-such-encoding", "%C3%BC"),
        ("a b'", "utf-8", "a%20b%27"),
    ],
)
def test_queries_are_written_in_the_encoding_of_the_page(text: str, encoding: str, escaped: str) -> None:
    assert encode_query(text, encoding) == escaped


ENCODINGS = st.sampled_from(
    [
        "windows-1252",
        "shift_jis",
        "euc-jp",
        "iso-2022-jp",
        "gbk",
        "gb18030",
        "big5",
        "euc-kr",
        "koi8-u",
        "x-user-defined",
        "?",
    ]
)


@given(ANY_TEXT, ENCODINGS)
def test_any_query_text_can_be_written_in_any_encoding(text: str, encoding: str) -> None:
    assert encode_query(text, encoding).isascii()
    urls.in_document_encoding(f"/a?{text}#{text}", encoding).encode("utf-8", "replace")


def test_the_parser_reports_parts_of_other_schemes_too() -> None:
    found = whatwg_url.parts("ftp://u:p@e.example:2121/a?b#c")
    assert found is not None and found["host"] == "e.example:2121" and found["password"] == "p"
    assert whatwg_url.parts("no url") is None


#: Text that a look at its octets may take for a URL the parser would leave alone, and text that is nearly so.
NEARLY_PLAIN = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["http://", "https://", "http:/", "HTTP://", "ftp://", ""]),
        st.sampled_from(
            [
                "a.example",
                "A.example",
                "a.example:80",
                "a.example:443",
                "a.example:8080",
                "a.example:08080",
                "a.example:65536",
                "a.example:",
                "127.0.0.1",
                "127.1",
                "0x7f.1",
                "256.1.1.1",
                "1.2.3.4.5",
                "a..b",
                "a.example.",
                "xn--a",
                "xn--nxasmq6b.example",
                "-a.example",
            ]
        ),
        st.sampled_from(["/", ""]),
        st.text("ab09_~-./?#:;@%\\ \té", max_size=10),
    ),
)


@given(NEARLY_PLAIN)
def test_what_is_taken_for_plain_the_parser_leaves_as_it_is(url: str) -> None:
    parsed = whatwg_url.resolve(url)
    if urls._is_plain(url):
        assert parsed == url
    expected = parsed if parsed is not None and parsed.startswith(("http://", "https://")) else None
    assert urls.canonical(url) == (urls.canonical_of_joined(expected) if expected is not None else None)


NEARLY_PLAIN_REF = st.one_of(
    st.text("ab09_~-./?#:%\\ é", max_size=8),
    st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["", "/"]),
            st.lists(st.sampled_from(["../", "a/", "b.c", "/", "./", ".."])).map("".join),
        ),
    ),
    NEARLY_PLAIN,
)


@given(NEARLY_PLAIN, NEARLY_PLAIN_REF)
@example("https://a.example/b/c", "")
@example("https://a.example/b//c/d", "../../../../e")
@example("https://a.example/", "/..//")
def test_plain_addresses_are_joined_as_the_parser_joins_them(base: str, ref: str) -> None:
    joined = whatwg_url.resolve(ref, base)
    expected = joined if joined is not None and joined.startswith(("http://", "https://")) else None
    assert urls.joiner(base)(ref) == expected
