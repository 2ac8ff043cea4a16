"""What answers to GET /robots.txt mean: outages close, absence opens, copies bridge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.robots import Answer, Copy, Outcome, RobotsExchange, Verdict, governs

URL = "https://shop.example/robots.txt"
BODY = b"User-agent: *\nDisallow: /x\n"
NOW = 1_800_000_000.0
HOUR = 3600.0


def ask(*answers: Answer, cached: Copy | None = None, now: float = NOW) -> Verdict:
    exchange = RobotsExchange(URL, now=now, cached=cached)
    for answer in answers:
        assert exchange.request is not None
        exchange.receive(answer, now=now)
    assert exchange.request is None
    return exchange.verdict


def good(**headers: str) -> Copy:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(Answer(200, fields, BODY)).copy


def redirect(to: str) -> Answer:
    return Answer(301, {"Location": to})


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_no_file_allows_all(status: int) -> None:
    verdict = ask(Answer(status))
    assert verdict.outcome is Outcome.ALLOW_ALL and not verdict.temporary
    assert verdict.decide("nightcrawl", "https://shop.example/x").allowed


@pytest.mark.parametrize(
    "answer", [Answer(429), Answer(500), Answer(503), Answer(999), Answer(error="dns"), Answer()]
)
def test_an_outage_disallows_all_for_now(answer: Answer) -> None:
    verdict = ask(answer)
    assert verdict.outcome is Outcome.DISALLOW_ALL and verdict.temporary
    decision = verdict.decide("nightcrawl", "https://shop.example/")
    assert not decision.allowed and "until robots.txt can be read" in decision.rule


def test_a_page_without_records_allows_all_and_redirects_in_html_are_not_followed() -> None:
    assert ask(Answer(200, {}, b"<meta http-equiv=refresh content='0;url=/r'>")).outcome is Outcome.ALLOW_ALL


def test_a_copy_bridges_an_outage_of_any_length_and_is_not_lost() -> None:
    copy = good()
    for day in range(1, 60):
        verdict = ask(Answer(503), cached=copy, now=NOW + day * 24 * HOUR)
        copy = verdict.copy
        assert verdict.outcome is Outcome.USE_CACHED and verdict.temporary
        assert not verdict.decide("nightcrawl", "/x").allowed
    assert (copy.failures, copy.unreachable_since) == (59, NOW + 24 * HOUR)
    recovered = ask(Answer(200, {}, BODY), cached=copy, now=NOW + 61 * 24 * HOUR)
    assert recovered.copy.failures == 0 and not recovered.changed


def test_an_outage_is_asked_about_again_later_and_later_and_not_before_retry_after() -> None:
    first = ask(Answer(503))
    second = ask(Answer(503), cached=first.copy, now=first.ask_again_at)
    assert 0 < first.ask_again_at - NOW < second.ask_again_at - first.ask_again_at
    asked = ask(Answer(429, {"retry-after": "7200"}))
    assert asked.retry_after == 7200 and asked.ask_again_at == NOW + 7200


def test_during_an_outage_the_site_is_left_alone_until_it_is_time() -> None:
    out = ask(Answer(503, {"Retry-After": "7200"})).copy
    waiting = ask(cached=out, now=NOW + 7199)
    assert waiting.outcome is Outcome.DISALLOW_ALL and waiting.requests == 0
    assert waiting.ask_again_at == NOW + 7200
    assert RobotsExchange(URL, now=NOW + 7200, cached=out).request is not None
    assert RobotsExchange(URL, now=NOW - 1e8, cached=out).request is not None, (
        "a clock set back waits for nothing"
    )


def test_a_remembered_absence_does_not_open_a_site_in_trouble() -> None:
    absent = ask(Answer(404)).copy
    assert ask(cached=absent, now=NOW + HOUR).decide("nightcrawl", "/x").allowed
    assert ask(Answer(503), cached=absent, now=NOW + 25 * HOUR).outcome is Outcome.DISALLOW_ALL


def test_a_file_that_vanishes_opens_the_site_and_says_that_it_changed() -> None:
    verdict = ask(Answer(404), cached=good(), now=NOW + 25 * HOUR)
    assert verdict.outcome is Outcome.ALLOW_ALL and verdict.changed


@pytest.mark.parametrize(
    ("cache_control", "hours"),
    [
        (None, 24),
        ("max-age=604800", 24),
        ("private, MAX-AGE=7200", 2),
        ("max-age=0", 1 / 6),
        ("max-age=" + "9" * 50, 24),
    ],
)
def test_a_copy_lives_ten_minutes_to_a_day(cache_control: str | None, hours: float) -> None:
    copy = good(**({"cache_control": cache_control} if cache_control else {}))
    assert copy.life_s == hours * HOUR
    fresh = ask(cached=copy, now=NOW + copy.life_s - 1)
    assert fresh.outcome is Outcome.USE_CACHED and fresh.requests == 0 and not fresh.temporary
    assert RobotsExchange(URL, now=NOW + copy.life_s, cached=copy).request is not None


def test_a_stale_copy_is_revalidated() -> None:
    copy = good(ETag='"a"', Last_Modified="Sun, 06 Nov 1994 08:49:37 GMT")
    later = NOW + 25 * HOUR
    request = RobotsExchange(URL, now=later, cached=copy).request
    assert request and request.headers == {
        "If-None-Match": '"a"',
        "If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT",
    }
    verdict = ask(Answer(304), cached=copy, now=later)
    assert verdict.outcome is Outcome.PARSE and verdict.from_cache and verdict.copy.fetched_at == later
    assert ask(Answer(304)).outcome is Outcome.DISALLOW_ALL, "304 answers a question nobody asked"


def test_validators_go_to_the_address_they_came_from() -> None:
    moved = ask(redirect("https://cdn.example/r.txt"), Answer(200, {"ETag": '"a"'}, BODY)).copy
    exchange = RobotsExchange(URL, now=NOW + 25 * HOUR, cached=moved)
    assert exchange.request and exchange.request.headers == {}
    exchange.receive(redirect("https://cdn.example/r.txt"), now=NOW + 25 * HOUR)
    assert exchange.request.headers == {"If-None-Match": '"a"'}


def test_five_redirects_are_followed_a_sixth_is_no_file() -> None:
    hops = [redirect(f"/r{n}") for n in range(6)]
    assert ask(*hops[:5], Answer(200, {}, BODY)).requests == 6
    assert ask(*hops).outcome is Outcome.ALLOW_ALL


@pytest.mark.parametrize("target", ["", "file:///etc/passwd", "javascript:1", "http://[x"])
def test_a_redirect_to_nowhere_is_no_file(target: str) -> None:
    assert ask(redirect(target)).outcome is Outcome.ALLOW_ALL


def test_rules_hold_for_the_host_first_asked() -> None:
    exchange = RobotsExchange(URL, now=NOW)
    exchange.receive(redirect("https://other.example/robots.txt"), now=NOW)
    exchange.receive(Answer(200, {}, BODY), now=NOW)
    assert governs(exchange.url, "https://shop.example/x")
    assert not governs(exchange.url, "https://other.example/x")


def test_a_conversation_is_had_in_order() -> None:
    exchange = RobotsExchange(URL, now=NOW)
    with pytest.raises(RuntimeError, match="no verdict"):
        _ = exchange.verdict
    exchange.receive(Answer(404), now=NOW)
    with pytest.raises(RuntimeError, match="no answer was awaited"):
        exchange.receive(Answer(404), now=NOW)


ANSWERS = st.builds(
    Answer,
    st.none() | st.integers(0, 999),
    st.dictionaries(
        st.sampled_from(["Location", "cache-control", "Retry-After", "etag"]), st.text(max_size=20)
    ),
    st.binary(max_size=60),
    st.none() | st.just("reset"),
)


@given(st.lists(ANSWERS, min_size=6, max_size=6), st.none() | st.just(good()))
def test_six_answers_always_give_a_verdict(answers: list[Answer], cached: Copy | None) -> None:
    exchange = RobotsExchange(URL, now=NOW + 48 * HOUR, cached=cached)
    for answer in answers:
        if exchange.request is None:
            break
        exchange.receive(answer, now=NOW + 48 * HOUR)
    verdict = exchange.verdict
    assert verdict.ask_again_at > NOW + 48 * HOUR
    assert verdict.requests <= 6
    assert cached is None or not verdict.temporary or verdict.outcome is Outcome.USE_CACHED
