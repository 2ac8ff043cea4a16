"""robots.txt: `resources.web.robots`."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from resources.web import robots
from resources.web.robots import Answer, Copy, Robots, RobotsExchange

from ..case import Case, Check, Suite

__all__ = ["SUITE"]

#: The clock of these cases; no expectation depends on it.
_NOW = 1_800_000_000.0


def _level(case: Case) -> str:
    return str(case.get("level", "must"))


def _body(given: Mapping[str, Any]) -> bytes:
    if "robots_b64" in given:
        return base64.b64decode(given["robots_b64"])
    return str(given["robots_txt"]).encode("utf-8", "surrogatepass")


def _match(case: Case, folder: Path) -> Iterator[Check]:
    parsed = robots.parse(_body(case["input"]), case["input"].get("robots_url"))
    for check in case["expected"]["checks"]:
        token, url = check["user_agent"], check["url"]
        got = parsed.rules_for(token).decide(url)
        passed = got.allowed == check["allowed"]
        yield Check(case["id"], check.get("level", "must"), passed, f"{token} {url[:200]}: {got}")


def _directives(case: Case, folder: Path) -> Iterator[Check]:
    parsed = robots.parse(_body(case["input"]), case["input"].get("robots_url"))
    yield from _said(case, parsed)


def _said(case: Case, parsed: Robots) -> Iterator[Check]:
    """Everything beside rules that a case may expect of a file."""
    expected, level = case["expected"], _level(case)

    def check(what: str, got: object, want: object, level: str = level) -> Check:
        return Check(case["id"], level, got == want, f"{what}: {got}, expected {want}")

    if "sitemaps" in expected:
        yield check("sitemaps", parsed.sitemaps, expected["sitemaps"])
    if "lenient_sitemaps" in expected:
        yield check("lenient sitemaps", parsed.lenient_sitemaps, expected["lenient_sitemaps"], "lenient")
    for token, seconds in expected.get("crawl_delay", {}).items():
        yield check(f"crawl delay of {token}", parsed.crawl_delay(token), seconds)
    for token, want in expected.get("request_rate", {}).items():
        rate = parsed.request_rate(token)
        got = rate and {"requests": rate.requests, "seconds": rate.seconds, **_window(rate.window)}
        yield check(f"request rate of {token}", got, want)
    for token, want in expected.get("visit_time", {}).items():
        window = parsed.visit_time(token)
        yield check(f"visit time of {token}", window and _window(window), want)


def _window(window: robots.VisitTime | None) -> dict[str, str | None]:
    start, end = (window.start.isoformat(), window.end.isoformat()) if window else (None, None)
    return {"start_time": start, "end_time": end}


def _parts(case: Case, folder: Path) -> Iterator[Check]:
    given, expected = case["input"], case["expected"]
    got: object
    if "url" in given:
        got, want = robots.match_path(given["url"]), expected["match_path"]
    elif "rule_value" in given:
        got, want = robots.escape(given["rule_value"]), expected["escaped"]
    else:
        got, want = robots.is_product_token(given["product_token"]), expected["valid"]
    yield Check(case["id"], _level(case), got == want, f"{dict(given)}: {got!r}, expected {want!r}")


def _real(case: Case, folder: Path) -> Iterator[Check]:
    parsed = robots.parse((folder / case["input"]["file"]).read_bytes())
    for token, url, allowed in case["expected"]["checks"]:
        got = parsed.rules_for(token).decide(url)
        yield Check(case["id"], _level(case), got.allowed == allowed, f"{token} {url}: {got}")
    yield from _said(case, parsed)


def _fetch(case: Case, folder: Path) -> Iterator[Check]:
    given, expected = case["input"], case["expected"]
    for what, got, want in _fetch_facts(given, expected):
        yield Check(case["id"], _level(case), got == want, f"{what}: {got}, expected {want}")


def _fetch_facts(
    given: Mapping[str, Any], expected: Mapping[str, Any]
) -> Iterator[tuple[str, object, object]]:
    """(what, the product's answer, the expected one) for each fact a case names."""
    if "robots_url" in given:
        for url in expected["governs"]:
            yield f"governs {url}", robots.governs(given["robots_url"], url), True
        for url in expected["does_not_govern"]:
            yield f"governs {url}", robots.governs(given["robots_url"], url), False
        return
    if "queue" in given:
        first = RobotsExchange(robots.robots_url(given["queue"][0]) or "", now=_NOW).request
        yield "first request", first and first.url, expected["first_request"]
        return
    if "body_bytes" in given:
        line = b"Disallow: /" + b"x" * 52 + b"\n"
        parsed = robots.parse(b"User-agent: *\n" + line * (given["body_bytes"] // len(line)))
        # The cut line is dropped, so at most one line of the limit is missing.
        enough = parsed.parsed_bytes + len(line) > expected["parsed_bytes_at_least"]
        yield f"{parsed.parsed_bytes} octets parsed", enough, True
        return
    yield from _conversation(given, expected)


def _conversation(
    given: Mapping[str, Any], expected: Mapping[str, Any]
) -> Iterator[tuple[str, object, object]]:
    url = given.get("url", "https://e.example/robots.txt")
    exchange = RobotsExchange(url, now=_NOW, cached=_copy(given, url))
    answers = [_answer(one) for one in given.get("exchange", [])]
    if "network_error" in given:
        answers = [Answer(error=given["network_error"])]
    while exchange.request is not None:
        exchange.receive(answers.pop(0), now=_NOW)
    verdict = exchange.verdict
    yield "outcome", verdict.outcome.value, expected["outcome"]
    facts = {
        "temporary": verdict.temporary,
        "retry_after": verdict.retry_after,
        "requests": verdict.requests,
        "body_from": "cache" if verdict.from_cache else "network",
        "fresh_again": verdict.copy.fetched_at == _NOW and verdict.ask_again_at > _NOW,
    }
    for name in facts.keys() & expected.keys():
        yield name, facts[name], expected[name]
    if "rules_apply_to" in expected:
        yield "applies to", robots.governs(exchange.url, expected["rules_apply_to"] + "/"), True
        yield "not to", robots.governs(exchange.url, expected["not_to"] + "/"), False


def _answer(given: Mapping[str, Any]) -> Answer:
    return Answer(given["status"], given.get("headers", {}), given.get("body", "").encode())


def _copy(given: Mapping[str, Any], url: str) -> Copy | None:
    """The copy a case says is stored: what an earlier exchange would have left, `age_s` ago."""
    if "unreachable_for_days" in given:
        since = _NOW - given["unreachable_for_days"] * 86_400
        return Copy(status=0, failures=1, unreachable_since=since)
    if "cached" not in given:
        return None
    cached = given["cached"]
    then = _NOW - cached["age_s"]
    earlier = RobotsExchange(url, now=then)
    earlier.receive(Answer(200, cached.get("headers", {}), cached["body"].encode()), now=then)
    return earlier.verdict.copy


SUITE = Suite(
    "01-robots",
    {
        "match.json": _match,
        "directives.json": _directives,
        "parts.json": _parts,
        "fetch.json": _fetch,
        "real.json": _real,
    },
)
