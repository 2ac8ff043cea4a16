"""Which rule merged two spellings, and how far two pages are apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.page_likeness import distance, read_html, read_other
from resources.web.url_merging import cure_of, merging_rules, standard_form
from resources.web.urls import UrlPolicy, canonical

SHOP = "https://shop.example"


@pytest.mark.parametrize(
    ("path", "policy", "rules"),
    [
        ("/a?b=2&a=1", UrlPolicy(), ()),
        ("/a?utm_source=x&b=2", UrlPolicy(), ("urls.drop_tracking: utm_source",)),
        ("/a?utm_source=x", UrlPolicy(drop_tracking=False), ()),
        ("/a?sid=1", UrlPolicy(drop_parameters=("sid",)), ("urls.drop_parameters: sid",)),
        ("/a?sess_x=1", UrlPolicy(drop_parameters=("sess*",)), ("urls.drop_parameters: sess*",)),
        ("/a?page=2", UrlPolicy(keep_parameters=()), ("scope.query: drop (page)",)),
        ("/a?b=2&a=1", UrlPolicy(sort_query=True), ("urls.sort_query",)),
        ("/a?a=1&b=2", UrlPolicy(sort_query=True), ()),
        ("/a/", UrlPolicy(trailing_slash="strip"), ("urls.trailing_slash: strip",)),
        ("/a", UrlPolicy(trailing_slash="add"), ("urls.trailing_slash: add",)),
        ("/index.html", UrlPolicy(index_pages=("index.html",)), ("urls.index_pages: index.html",)),
        (
            "/a/?b=1&gclid=2&a=3",
            UrlPolicy(sort_query=True, trailing_slash="strip"),
            ("urls.trailing_slash: strip", "urls.drop_tracking: gclid", "urls.sort_query"),
        ),
    ],
)
def test_the_rules_that_merge_a_url_are_named(path: str, policy: UrlPolicy, rules: tuple[str, ...]) -> None:
    assert merging_rules(SHOP + path, policy) == rules
    for rule in rules:
        assert cure_of(rule).split()[0] in ("take", "set")


policies = st.builds(
    UrlPolicy,
    sort_query=st.booleans(),
    drop_parameters=st.sampled_from([(), ("a",), ("a*", "sid")]),
    keep_parameters=st.sampled_from([None, (), ("b",)]),
    drop_tracking=st.booleans(),
    trailing_slash=st.sampled_from(["keep", "strip", "add"]),
    index_pages=st.sampled_from([(), ("index.html",)]),
    drop_query=st.booleans(),
)
tails = st.text(alphabet="ab/?&=.%3idx12", max_size=24) | st.sampled_from(
    ["/index.html", "/index.html?a=1&sid=2", "/?utm_source=1", "/b/?b=2&a=1&&"]
)


@given(tails, policies)
def test_a_url_is_merged_exactly_when_some_rule_is_named(tail: str, policy: UrlPolicy) -> None:
    standard = standard_form(f"{SHOP}/{tail}")
    assert standard is not None
    changed = canonical(standard, policy) != standard
    rules = merging_rules(standard, policy)
    # A bare `?` or empty pair may go with the parameters a rule drops; no rule of its own is behind it.
    assert changed == bool(rules) or (not rules and standard.rstrip("?&") != standard)


# -- likeness ----------------------------------------------------------------------------------------------
PROSE = (
    "The harbour was quiet, the boats lay still, and nobody saw the lamp that burned until the morning came. "
)
MENU = "<nav>" + "".join(f"<a href=/{n}>department {n}</a>" for n in range(60)) + "</nav>"


def page(title: str, main: str, stamp: str = "", token: str = "") -> bytes:
    return (
        f"<html><head><title>{title}</title></head><body>{MENU}<form><input type=hidden name=csrf value={token}></form>"
        f"<article><h1>{title}</h1><p>{main}</p></article><footer>Rendered at {stamp}</footer></body></html>"
    ).encode()


def apart(one: bytes, other: bytes) -> float:
    return distance(read_html(one, "text/html"), read_html(other, "text/html"))


def test_time_stamps_and_tokens_do_not_make_another_page() -> None:
    one = page("Lamp", PROSE * 4, "12:00:01", "f0f1")
    other = page("Lamp", PROSE * 4, "12:07:59", "77aa")
    assert one != other
    assert apart(one, other) < 0.05


def test_another_text_in_the_same_frame_is_another_page() -> None:
    other = "A recipe for bread asks for flour, water, salt and time, and for an oven that is hotter than you think. "
    assert apart(page("Lamp", PROSE), page("Bread", other)) > 0.5


def test_a_list_in_another_order_is_the_same_page_and_other_entries_are_not() -> None:
    names = ["amber", "basalt", "coral", "dune", "ember", "fjord", "grove", "heath"]

    def listed(some: list[str]) -> bytes:
        return f"<ul>{''.join(f'<li><a href=/{n}>{n}</a> 3 in stock</li>' for n in some)}</ul>".encode()

    assert apart(listed(names[:4]), listed(names[3::-1])) == 0
    assert apart(listed(names[:4]), listed(names[4:])) > 0.3


def test_what_is_no_text_is_equal_or_not() -> None:
    assert distance(read_other(b"\xff\xfe\x00"), read_other(b"\xff\xfe\x00")) == 0
    assert distance(read_other(b"\xff\xfe\x00"), read_other(b"\xff\xfe\x01")) == 1
    assert distance(read_other(b'{"page": 1}'), read_other(b'{"page": 1}')) == 0
    assert distance(read_other(b""), read_other(b"")) == 0


@given(st.text(max_size=60), st.text(max_size=60))
def test_distance_is_symmetric_and_bounded(one: str, other: str) -> None:
    a, b = read_html(one.encode(), None), read_html(other.encode(), None)
    assert distance(a, a) == 0
    assert distance(a, b) == distance(b, a)
    assert 0 <= distance(a, b) <= 1
