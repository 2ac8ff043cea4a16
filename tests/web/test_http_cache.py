"""The private cache: what it serves, asks about, stores and forgets."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.http_cache import (
    CRAWL,
    DoNotStore,
    Fetch,
    Invalidate,
    Policy,
    Request,
    Response,
    RetryUnconditionally,
    Revalidate,
    Serve,
    Store,
    Stored,
    Update304,
    add_variant,
    current_age,
    decide,
    freshness_lifetime,
    on_response,
    select,
    served_headers,
    stale_on_error,
)
from resources.web.http_cache.freshness import seconds_left
from resources.web.http_date import format_http_date

Fields = tuple[tuple[str, str], ...]

NOW = 1_700_000_000.0
PAGE = Request("GET", "http://shop.example/")
PRIVATE = Policy()


def stored(*headers: tuple[str, str], status: int = 200, age: float = 0.0) -> Stored:
    outcome = on_response(None, PAGE, Response(status, headers, NOW - age), NOW - age)
    assert isinstance(outcome, Store), outcome
    return outcome.stored


# --- freshness ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds", "reason"),
    [
        ([("Cache-Control", "max-age=60")], 60, "max-age"),
        ([("Cache-Control", "max-age=60"), ("Expires", "0")], 60, "max-age"),
        ([("Cache-Control", "max-age=10, max-age=100")], 10, "max-age"),
        ([("Cache-Control", "max-age=soon"), ("Expires", format_http_date(NOW + 60))], 0, "max-age-invalid"),
        ([("Expires", format_http_date(NOW + 60)), ("Date", format_http_date(NOW))], 60, "expires"),
        ([("Expires", "-1")], 0, "expires-invalid"),
        (
            [("Last-Modified", format_http_date(NOW - 1000)), ("Date", format_http_date(NOW))],
            100,
            "heuristic",
        ),
        ([("Last-Modified", format_http_date(NOW - 10**9))], 7 * 86400, "heuristic"),
        ([], 0, "none"),
    ],
)
def test_lifetime_and_its_reason(headers: list[tuple[str, str]], seconds: float, reason: str) -> None:
    lifetime = freshness_lifetime(stored(*headers), PRIVATE)
    assert lifetime.reason == reason
    assert lifetime.seconds == pytest.approx(seconds, abs=1)


@pytest.mark.parametrize(
    ("policy", "seconds", "reason"),
    [
        (Policy(ttl=600), 600, "site-ttl"),
        (Policy(ttl=600, ttl_rule="at-most"), 60, "max-age"),
        (Policy(ttl=600, ttl_rule="at-least"), 600, "site-ttl"),
        (Policy(ttl=6, ttl_rule="at-most"), 6, "site-ttl"),
    ],
)
def test_site_ttl_meets_the_origins_lifetime_by_rule(policy: Policy, seconds: float, reason: str) -> None:
    assert freshness_lifetime(stored(("Cache-Control", "max-age=60")), policy) == (seconds, reason)


def test_site_ttl_does_not_overrule_no_cache_unless_told_to() -> None:
    page = stored(("Cache-Control", "no-cache"), ("ETag", '"a"'))
    assert isinstance(decide(page, PAGE, NOW, Policy(ttl=600)), Revalidate)
    assert isinstance(decide(page, PAGE, NOW, Policy(ttl=600, ttl_over_no_cache=True)), Serve)


def test_site_ttl_never_overrules_no_store() -> None:
    response = Response(200, (("Cache-Control", "no-store"),), NOW)
    policy = Policy(ttl=600, ttl_over_no_cache=True)
    assert on_response(None, PAGE, response, NOW, policy) == DoNotStore("no-store")


def test_age_counts_date_age_field_and_time_under_way() -> None:
    outcome = on_response(None, PAGE, Response(200, (("Age", "50"),), NOW - 5), NOW)
    assert isinstance(outcome, Store)
    assert current_age(outcome.stored, NOW + 10) == 65
    assert current_age(stored(("Date", format_http_date(NOW - 60))), NOW + 30) == 90
    assert current_age(stored(("Date", format_http_date(NOW + 3600))), NOW + 30) == 30


def test_served_age_is_the_current_one() -> None:
    assert served_headers(stored(("Age", "30"), ("X", "1")), NOW + 3) == (("X", "1"), ("Age", "33"))


# --- deciding ----------------------------------------------------------------------------------------------


def test_fresh_is_served_and_stale_is_asked_about_with_both_validators_verbatim() -> None:
    modified = "Saturday, 01-Jan-22 00:00:00 GMT"
    page = stored(("Cache-Control", "max-age=60"), ("ETag", 'W/"a"'), ("Last-Modified", modified))
    assert decide(page, PAGE, NOW + 59, PRIVATE) == Serve(200, 59.0, freshness_lifetime(page, PRIVATE))
    asked = decide(page, PAGE, NOW + 60, PRIVATE)
    assert asked == Revalidate(
        (("If-None-Match", 'W/"a"'), ("If-Modified-Since", modified)), "stale: max-age"
    )


def test_a_lost_body_is_fetched_without_conditions_and_a_304_for_it_is_asked_again() -> None:
    lost = stored(("Cache-Control", "max-age=60"), ("ETag", '"a"')).without_body()
    assert decide(lost, PAGE, NOW, PRIVATE) == Fetch("body lost")
    conditional = Request(headers=(("If-None-Match", '"a"'),))
    assert isinstance(on_response(lost, conditional, Response(304), NOW), RetryUnconditionally)


def test_another_variant_is_asked_about_by_entity_tag_only() -> None:
    english = Request(headers=(("Accept-Language", "en"),))
    headers = (
        ("Vary", "Accept-Language"),
        ("ETag", '"a"'),
        ("Last-Modified", format_http_date(NOW)),
        ("Cache-Control", "max-age=60"),
    )
    outcome = on_response(None, english, Response(200, headers, NOW), NOW)
    assert isinstance(outcome, Store)
    assert isinstance(decide(outcome.stored, english, NOW, PRIVATE), Serve)
    german = Request(headers=(("accept-language", "de"),))
    assert decide(outcome.stored, german, NOW, PRIVATE) == Revalidate((("If-None-Match", '"a"'),), "vary")


def test_variants_live_side_by_side() -> None:
    pages: tuple[Stored, ...] = ()
    for language in ("en", "de", "en"):
        request = Request(headers=(("Accept-Language", language),))
        response = Response(200, (("Vary", "Accept-Language"), ("X", language)), NOW)
        outcome = on_response(None, request, response, NOW)
        assert isinstance(outcome, Store)
        pages = add_variant(pages, outcome.stored)
    assert len(pages) == 2
    found = select(pages, Request(headers=(("Accept-Language", "de"),)))
    assert found is not None and ("X", "de") in found.headers


def test_stale_while_revalidate_serves_and_says_so_but_not_to_a_crawl() -> None:
    page = stored(("Cache-Control", "max-age=10, stale-while-revalidate=100"), ("ETag", '"a"'))
    decision = decide(page, PAGE, NOW + 50, PRIVATE)
    assert isinstance(decision, Serve) and decision.stale and decision.revalidate
    assert isinstance(decide(page, PAGE, NOW + 50, CRAWL), Revalidate)
    assert isinstance(decide(page, PAGE, NOW + 111, PRIVATE), Revalidate)


def test_a_stale_page_stands_in_for_an_error_only_with_permission() -> None:
    plain = stored(("Cache-Control", "max-age=10"))
    allowed = stored(("Cache-Control", "max-age=10, stale-if-error=60"))
    strict = stored(("Cache-Control", "max-age=10, stale-if-error=60, must-revalidate"))
    assert stale_on_error(plain, PAGE, NOW + 20, PRIVATE) is None
    assert stale_on_error(plain, PAGE, NOW + 20, Policy(stale_if_unreachable=60)) is not None
    assert stale_on_error(allowed, PAGE, NOW + 20, PRIVATE) is not None
    assert stale_on_error(allowed, PAGE, NOW + 71, PRIVATE) is None
    assert stale_on_error(strict, PAGE, NOW + 20, PRIVATE) is None


def test_a_part_never_answers_for_the_whole() -> None:
    wanted = Request(headers=(("Range", "bytes=0-4"),))
    headers = (("Cache-Control", "max-age=60"), ("Content-Range", "bytes 0-4/10"))
    outcome = on_response(None, wanted, Response(206, headers, NOW), NOW)
    assert isinstance(outcome, Store)
    assert decide(outcome.stored, PAGE, NOW, PRIVATE) == Fetch("only a part is stored")
    inside = decide(outcome.stored, Request(headers=(("Range", "bytes=2-3"),)), NOW, PRIVATE)
    assert isinstance(inside, Serve) and inside.window == (2, 4)
    beyond = Request(headers=(("Range", "bytes=2-6"),))
    assert isinstance(decide(outcome.stored, beyond, NOW, PRIVATE), Fetch)


# --- after the response ------------------------------------------------------------------------------------


def test_a_304_updates_the_fields_and_keeps_those_of_the_body() -> None:
    page = stored(
        ("ETag", '"a"'), ("Content-Type", "text/html"), ("Content-Length", "3"), ("X", "1"), ("X", "2")
    )
    sent = Request(headers=(("If-None-Match", '"a"'),))
    answer = (
        ("Content-Type", "text/plain"),
        ("Content-Length", "0"),
        ("X", "3"),
        ("Cache-Control", "max-age=5"),
    )
    outcome = on_response(page, sent, Response(304, answer, NOW + 9), NOW + 10)
    assert isinstance(outcome, Update304)
    assert outcome.stored.headers == (
        ("ETag", '"a"'),
        ("Content-Type", "text/html"),
        ("Content-Length", "3"),
        ("X", "3"),
        ("Cache-Control", "max-age=5"),
    )
    assert isinstance(decide(outcome.stored, PAGE, NOW + 11, PRIVATE), Serve)


def test_conditions_that_misfire_are_dropped() -> None:
    page, sent = stored(("ETag", '"a"')), Request(headers=(("If-None-Match", '"a"'),))
    assert isinstance(on_response(page, sent, Response(412), NOW), RetryUnconditionally)
    other = Response(304, (("ETag", '"b"'),))
    assert isinstance(on_response(page, sent, other, NOW), RetryUnconditionally)


def test_an_unusable_body_is_never_a_hit_and_leaves_the_old_one() -> None:
    page = stored(("Cache-Control", "max-age=60"))
    wall = Response(200, (("Cache-Control", "max-age=86400"),), NOW)
    assert isinstance(on_response(page, PAGE, wall, NOW, usable=False), DoNotStore)
    assert isinstance(on_response(None, PAGE, wall, NOW, usable=False), DoNotStore)


def test_a_crawl_never_stores_errors_forgets_pages_that_are_gone_and_sits_out_trouble() -> None:
    fresh = (("Cache-Control", "max-age=60"),)
    page = stored(*fresh)
    assert isinstance(on_response(None, PAGE, Response(404, fresh), NOW, CRAWL), DoNotStore)
    assert isinstance(on_response(page, PAGE, Response(404, fresh), NOW, CRAWL), Invalidate)
    for status in (429, 500, 503):
        assert isinstance(on_response(page, PAGE, Response(status, fresh), NOW, CRAWL), DoNotStore)


def test_an_unsafe_request_invalidates_its_target_and_the_same_origins_locations() -> None:
    post = Request("POST", "http://shop.example/cart")
    there = (("Location", "/items"), ("Content-Location", "http://other.example/"))
    outcome = on_response(None, post, Response(303, there), NOW)
    assert isinstance(outcome, Invalidate)
    assert outcome.urls == ("http://shop.example/cart", "http://shop.example/items")
    assert isinstance(on_response(None, post, Response(500), NOW), DoNotStore)


def test_connection_fields_are_not_stored() -> None:
    page = stored(
        ("Connection", "close, X-Hop"), ("X-Hop", "1"), ("Transfer-Encoding", "chunked"), ("X", "2")
    )
    assert page.headers == (("X", "2"),)


# --- whatever a server sends ---------------------------------------------------------------------------------

names = st.sampled_from(
    [
        "Cache-Control",
        "Expires",
        "Date",
        "Age",
        "ETag",
        "Last-Modified",
        "Vary",
        "Connection",
        "Content-Length",
        "Content-Encoding",
        "Content-Type",
        "Content-Range",
        "Content-Location",
        "Location",
        "Pragma",
        "X-A",
    ]
)
DIRECTIVES = (
    'no-store no-cache max-age=60 max-age=-1 private public must-understand "x * W/"a" "a" 0 bytes '
    "stale-while-revalidate=9 stale-if-error=9 must-revalidate immutable bytes=0-3 X-A"
)
values = st.one_of(
    st.text(st.characters(max_codepoint=255), max_size=30),
    st.sampled_from([format_http_date(NOW + 9), format_http_date(NOW - 99)]),
    st.lists(st.sampled_from(DIRECTIVES.split()), max_size=4).map(", ".join),
)
header_lists = st.lists(st.tuples(names, values), max_size=6).map(tuple)
requests = st.builds(
    Request,
    st.sampled_from(["GET", "HEAD", "POST", "BREW"]),
    st.sampled_from(["http://shop.example/", "", "http://[broken/"]),
    st.lists(
        st.tuples(
            st.sampled_from(
                ["Cache-Control", "If-None-Match", "If-Modified-Since", "Range", "If-Range", "X-A"]
            ),
            values,
        ),
        max_size=4,
    ).map(tuple),
)
responses = st.builds(Response, st.sampled_from([103, 200, 206, 301, 304, 404, 412, 503, 999]), header_lists)
policies = st.sampled_from([PRIVATE, CRAWL, Policy(ttl=60), Policy(ttl=60, ttl_over_no_cache=True)])
times = st.floats(-1e6, 1e6).map(lambda seconds: NOW + seconds)


@given(requests, responses, requests, responses, times, policies)
def test_never_raises_and_never_serves_no_store(
    first: Request, response: Response, second: Request, answer: Response, now: float, policy: Policy
) -> None:
    outcome = on_response(None, first, response, NOW, policy)
    page = outcome.stored if isinstance(outcome, Store) else None
    for _ in range(2):
        decision = decide(page, second, now, policy)
        stand_in = stale_on_error(page, second, now, policy)
        if page is not None:
            lines = ",".join(value.lower() for name, value in page.headers if name == "Cache-Control")
            if "no-store" in lines.replace(" ", "").split(",") and "must-understand" not in lines:
                assert not isinstance(decision, Serve) and stand_in is None
            assert Stored.from_json(json.loads(json.dumps(page.to_json()))) == page
            assert pickle.loads(pickle.dumps(page)) == page
        after = on_response(page, second, answer, now, policy)
        page = after.stored if isinstance(after, Store | Update304) else page


@given(header_lists, header_lists)
def test_a_304_never_changes_what_describes_the_body(old: Fields, new: Fields) -> None:
    page = Stored(200, old, (), NOW, NOW)
    outcome = on_response(page, Request(headers=(("If-None-Match", "x"),)), Response(304, new), NOW)
    if isinstance(outcome, Update304):
        for name in ("Content-Length", "Content-Encoding", "Content-Type", "Content-Range"):
            before = [value for key, value in old if key == name]
            assert [value for key, value in outcome.stored.headers if key == name] == before


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["Date", "date", "Last-Modified", "last-modified", "ETag", "Age", "Expires", "Cache-Control"]
            ),
            st.one_of(
                st.floats(1.69e9, 1.71e9).map(format_http_date),
                st.sampled_from(
                    ["", " 60", "max-age=60", "no-cache, public", "0", "Tue, 99 Nov 2023 00:00:00 GMT"]
                ),
            ),
        ),
        max_size=5,
    ),
    st.sampled_from([200, 203, 301, 302, 404, 500]),
    st.floats(1.7e9, 1.7001e9),
    st.floats(-10, 100),
    st.floats(-10, 1e6),
    st.sampled_from([CRAWL, Policy(heuristic_fraction=0.0), Policy(ttl=60.0)]),
)
def test_the_seconds_left_are_lifetime_less_age(
    headers: list[tuple[str, str]], status: int, asked: float, under_way: float, later: float, policy: Policy
) -> None:
    got = asked + under_way
    left = seconds_left(status, tuple(headers), asked, got, policy, got + later)
    decided = policy.ttl is not None or {n.lower() for n, _ in headers} & {"age", "expires", "cache-control"}
    assert (left is None) == bool(decided)
    if left is not None:
        stored = Stored(status, tuple(headers), (), asked, got)
        expected = freshness_lifetime(stored, policy).seconds - current_age(stored, got + later)
        assert left == pytest.approx(expected, abs=1e-6)
