"""Suite 03-http-cache: single decisions, and sequences of requests through a small simulated origin.

The product decides; this module only carries requests between its state machine and an origin that answers
as the case says, under a clock that it moves itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from resources.web.http_cache import (
    DoNotStore,
    Fetch,
    Invalidate,
    Outcome,
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
    not_modified,
    on_response,
    select,
    served_headers,
    stale_on_error,
)
from resources.web.http_date import format_http_date, parse_http_date

from ..case import Case, Check, Suite

__all__ = ["SUITE"]

_POLICY = Policy()
_CONDITIONS = ("if-none-match", "if-modified-since")
_ERRORS = (500, 502, 503, 504)
#: When the simulated clock starts; before every fixed date in the data that means "the future".
_START = 1_700_000_000.0
_DECADE = 10 * 365 * 86400.0


def _fields(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in headers.items())


def _get(headers: tuple[tuple[str, str], ...], name: str) -> str | None:
    """All lines of a field as a client library shows them; None when there is none."""
    lines = [value for key, value in headers if key.lower() == name.lower()]
    return ", ".join(lines) if lines else None


def _check(case: Case, problems: list[str], level: str | None = None) -> Check:
    return Check(
        str(case["id"]), level or str(case.get("level", "must")), not problems, "; ".join(problems[:4])
    )


# --- unit.json ----------------------------------------------------------------------------------------------

_USES: dict[str, tuple[type, ...]] = {
    "cached": (Serve,),
    "revalidate_or_fetch": (Revalidate, Fetch),
    "cached_or_revalidate": (Serve, Revalidate, Fetch),
    "not_a_full_response": (Revalidate, Fetch),
    "revalidate": (Revalidate,),
    "fetch": (Fetch,),
}


def _unit(case: Case, folder: Path) -> Iterator[Check]:
    problems = _validation(case) if "origin_answer" in case["input"] else _reuse(case)
    yield _check(case, problems)


def _reuse(case: Case) -> list[str]:
    given, expected = case["input"], case["expected"]
    raw = given["stored"]
    received = parse_http_date(raw.get("received_at") or raw["headers"].get("Date", "")) or _START
    asked = Request(raw.get("method", "GET"), "http://a.example/", _fields(raw.get("request_headers", {})))
    response = Response(raw["status"], _fields(raw["headers"]), received)
    outcome = on_response(None, asked, response, received, _POLICY)
    stored = outcome.stored if isinstance(outcome, Store) else None
    now = received + given["seconds_since_response_received"]
    request = Request("GET", asked.url, _fields(given["request_headers"]))
    decision = decide(stored, request, now, _POLICY)
    problems = []
    use = expected.get("use")
    if use == "not_stored":
        if stored is not None:
            problems.append(f"stored: {stored}")
    elif use is not None and not isinstance(decision, _USES[use]):
        problems.append(f"got {decision} after {outcome}, wanted {use}")
    measured = stored or Stored(raw["status"], response.headers, (), received, received)
    lifetime, age = freshness_lifetime(measured, _POLICY).seconds, current_age(measured, now)
    if expected.get("freshness_lifetime_s", lifetime) != lifetime:
        problems.append(f"lifetime {lifetime}, wanted {expected['freshness_lifetime_s']}")
    if lifetime < expected.get("freshness_lifetime_s_at_least", 0):
        problems.append(f"lifetime {lifetime} is too short")
    if expected.get("current_age_s", age) != age:
        problems.append(f"age {age}, wanted {expected['current_age_s']}")
    if "if_origin_unreachable" in expected:
        stand_in = stale_on_error(stored, request, now, _POLICY)
        if (stand_in is None) != (expected["if_origin_unreachable"] == "error_504"):
            problems.append(f"unreachable: {stand_in}")
    return problems


def _validation(case: Case) -> list[str]:
    given, expected = case["input"], case["expected"]
    headers = dict(given["stored"]["headers"])
    has_body = not headers.pop("__body_lost", False)
    received = _START
    stored = Stored(given["stored"]["status"], _fields(headers), (), received, received, has_body=has_body)
    now = received + _DECADE  # stale by any reckoning
    decision = decide(stored, Request(), now, _POLICY)
    condition = decision.fields if isinstance(decision, Revalidate) else ()
    problems = []
    if "conditional_request" in expected and dict(condition) != expected["conditional_request"]:
        problems.append(f"condition {condition}, wanted {expected['conditional_request']}")
    answer = given["origin_answer"]
    response = Response(answer["status"], _fields(answer.get("headers", {})), now)
    outcome = on_response(stored, Request(headers=condition), response, now, _POLICY)
    confirmed = isinstance(outcome, Update304)
    retried = isinstance(outcome, RetryUnconditionally)
    if "body" in expected:
        body = "OLD" if confirmed else "refetch" if retried else answer.get("body")
        if body not in expected["body"].split(" or "):
            problems.append(f"body {body} by {outcome}, wanted {expected['body']}")
    status = outcome.stored.status if isinstance(outcome, Update304) else answer["status"]
    if expected.get("status", status) != status:
        problems.append(f"status {status}, wanted {expected['status']}")
    for name, value in expected.get("stored_headers_after", {}).items():
        after = _get(outcome.stored.headers, name) if isinstance(outcome, Update304 | Store) else None
        if after != value:
            problems.append(f"stored {name}: {after!r}, wanted {value!r}")
    if expected.get("stored_replaced") and not isinstance(outcome, Store | Invalidate):
        problems.append(f"not replaced: {outcome}")
    if expected.get("retry_without_condition") and not retried:
        problems.append(f"no retry: {outcome}")
    return problems


# --- sequences.json -----------------------------------------------------------------------------------------


@dataclass
class _Seen:
    """What client and origin saw of one step."""

    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    served: set[str] = field(default_factory=set)
    at_origin: list[Request] = field(default_factory=list)


class _Run:
    """One case: the cache's contents, the origin's script, the clock."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.base = f"http://cache.example/test/{case['id']}"
        self.now = _START
        self.origin_said_at = _START
        self.cache: dict[str, tuple[Stored, ...]] = {}
        self.bodies: dict[Stored, str] = {}
        self.last_origin: tuple[tuple[str, str], ...] = ()
        self.responses = 0

    def problems(self) -> list[str]:
        found = []
        for step, expected in zip(self.case["input"]["steps"], self.case["expected"]["steps"], strict=True):
            seen = self.step(step, expected)
            found += self._differences(seen, expected)
            self.now += step.get("pause_after_s", 0)
        return found

    # The cache's user: what the fetcher does with the state machine's decisions.

    def step(self, step: Mapping[str, Any], expected: Mapping[str, Any]) -> _Seen:
        request = self._request(step["request"])
        variants = self.cache.get(request.url, ())
        stored = select(variants, request)
        decision = decide(stored, request, self.now, _POLICY)
        seen = _Seen()
        if isinstance(decision, Serve) and stored is not None:
            self._serve(seen, stored, decision)
            return seen
        sent = request
        if isinstance(decision, Revalidate):
            names = {name.lower() for name, _ in decision.fields}
            others = tuple(pair for pair in request.headers if pair[0].lower() not in names)
            sent = Request(request.method, request.url, others + decision.fields)
        response, body = self._origin(step.get("origin", {}), sent, expected, seen)
        if response is None or response.status in _ERRORS:
            stand_in = stale_on_error(stored, request, self.now, _POLICY)
            if stand_in is not None and stored is not None:
                self._serve(seen, stored, stand_in)
                return seen
            if response is None:
                return seen
        outcome = on_response(stored, sent, response, self.now, _POLICY)
        if isinstance(outcome, RetryUnconditionally):
            bare = tuple(pair for pair in request.headers if pair[0].lower() not in _CONDITIONS)
            sent = Request(request.method, request.url, bare)
            response, body = self._origin(step.get("origin", {}), sent, {}, seen)
            if response is None:
                return seen
            outcome = on_response(stored, sent, response, self.now, _POLICY)
        self._keep(outcome, stored, request, body)
        if isinstance(outcome, Update304) and request.method == "GET":
            for name, kind in (("if-none-match", "etag_validated"), ("if-modified-since", "lm_validated")):
                if _get(sent.headers, name) is not None:
                    seen.served.add(kind)
            seen.status = 304 if not_modified(outcome.stored, request) else outcome.stored.status
            seen.headers = served_headers(outcome.stored, self.now)
            seen.body = self.bodies[outcome.stored]
        else:
            seen.served.add("not_cached")
            seen.status, seen.headers, seen.body = response.status, response.headers, body
        return seen

    def _serve(self, seen: _Seen, stored: Stored, decision: Serve) -> None:
        body = self.bodies[stored]
        if decision.window is not None:
            body = body[decision.window.start : decision.window.stop]
        seen.status, seen.body, seen.served = decision.status, body, {"cached"}
        seen.headers = served_headers(stored, self.now)

    def _keep(self, outcome: Outcome, old: Stored | None, request: Request, body: str) -> None:
        variants = self.cache.get(request.url, ())
        if isinstance(outcome, Store):
            self.cache[request.url] = add_variant(variants, outcome.stored)
            self.bodies[outcome.stored] = body
        elif isinstance(outcome, Update304) and old is not None:
            self.cache[request.url] = (*(v for v in variants if v != old), outcome.stored)
            self.bodies[outcome.stored] = self.bodies[old]
        elif isinstance(outcome, Invalidate):
            for url in outcome.urls:
                self.cache.pop(url, None)
        else:
            assert isinstance(outcome, DoNotStore | RetryUnconditionally | Update304)

    # The origin.

    def _origin(
        self, script: Mapping[str, Any], request: Request, expected: Mapping[str, Any], seen: _Seen
    ) -> tuple[Response | None, str]:
        seen.at_origin.append(request)
        sent_at = self.now
        self.now += script.get("pause_before_s", 0)
        if script.get("disconnect"):
            return None, ""
        relative = bool(script.get("location_headers_are_relative_to_test_base"))
        headers = tuple(
            (name, self._location(value) if relative and "location" in name.lower() else self._value(value))
            for name, value in script.get("headers", ())
        )
        self.responses += 1
        status = script.get("status", 200)
        # As upstream: the origin confirms only in the steps that are about confirmation.
        if str(expected.get("served", "")).endswith("_validated") and self._still_the_same(request):
            status = 304
        self.origin_said_at = self.now
        if status != 304:
            self.last_origin = headers
        body = script.get("body") or f"answer {self.responses}"
        return Response(status, headers, sent_at), body

    def _still_the_same(self, request: Request) -> bool:
        for name, validator in (("if-none-match", "etag"), ("if-modified-since", "last-modified")):
            wanted = _get(request.headers, name)
            if wanted is not None:
                return wanted == _get(self.last_origin, validator)
        return False

    def _request(self, raw: Mapping[str, Any]) -> Request:
        url = self.base + (f"/{raw['filename']}" if "filename" in raw else "")
        if "query_arg" in raw:
            url += "?" + raw["query_arg"]
        relative = bool(raw.get("if_modified_since_is_relative_to_stored_last_modified"))
        base = self.origin_said_at if relative else self.now
        headers = tuple((name, self._value(value, base)) for name, value in raw.get("headers", ()))
        if raw.get("fetch_cache_mode") == "no-cache":  # the Fetch Standard's way to say it
            headers += (("Cache-Control", "max-age=0"),)
        return Request(raw["method"], url, headers)

    def _location(self, value: str) -> str:
        return f"{self.base}/{value}" if value else self.base

    def _value(self, value: Any, base: float | None = None) -> str:
        if isinstance(value, str):
            return value
        when = (self.now if base is None else base) + value["now_plus_s"]
        text = format_http_date(when)
        return _rfc850(text) if value.get("format") == "rfc850" else text

    # What was expected.

    def _differences(self, seen: _Seen, expected: Mapping[str, Any]) -> list[str]:
        found = []
        served = expected.get("served")
        if served is not None and served not in seen.served:
            found.append(f"served {sorted(seen.served)}, wanted {served}")
        if "status" in expected and seen.status != expected["status"]:
            found.append(f"status {seen.status}, wanted {expected['status']}")
        if "client_sees_body" in expected and seen.body != expected["client_sees_body"]:
            found.append(f"body {seen.body!r}, wanted {expected['client_sees_body']!r}")
        for wanted in expected.get("client_sees_headers", ()):
            found += self._field(seen.headers, wanted, "client")
        for wanted in expected.get("client_does_not_see_headers", ()):
            name = wanted if isinstance(wanted, str) else wanted["header"]
            unwanted = "" if isinstance(wanted, str) else wanted["not_containing"]
            value = _get(seen.headers, name)
            if value is not None and unwanted in value:
                found.append(f"client sees {name}: {value}")
        last = seen.at_origin[-1] if seen.at_origin else None
        for wanted in expected.get("origin_sees_headers", ()):
            found += self._field(last.headers if last else (), wanted, "origin")
        method = expected.get("origin_sees_method")
        if method is not None and (last is None or last.method != method):
            found.append(f"origin sees {last}, wanted {method}")
        return found

    def _field(self, headers: tuple[tuple[str, str], ...], wanted: Mapping[str, Any], who: str) -> list[str]:
        name = wanted.get("header") or wanted["present"]
        value = _get(headers, name)
        if value is None:
            return [f"{who} sees no {name}"]
        if "equals" in wanted:
            target = self._value(wanted["equals"], self.origin_said_at)
            return [] if value == target else [f"{who} sees {name}: {value!r}, wanted {target!r}"]
        if "greater_than" in wanted and not float(value) > wanted["greater_than"]:
            return [f"{who} sees {name}: {value}, wanted more than {wanted['greater_than']}"]
        return []


def _rfc850(imf_fixdate: str) -> str:
    """The obsolete form of a date, as in "Sunday, 06-Nov-94 08:49:37 GMT"."""
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    short, day, month, year, time, zone = imf_fixdate.split()
    long = next(name for name in days if name.startswith(short[:3]))
    return f"{long}, {day}-{month}-{year[2:]} {time} {zone}"


@lru_cache(1)
def _sequences(folder: Path) -> dict[str, Case]:
    return {str(case["id"]): case for case in json.loads((folder / "sequences.json").read_text())}


def _sequence(case: Case, folder: Path) -> Iterator[Check]:
    problems = _Run(case).problems()
    if problems:
        cases = _sequences(folder)
        needs = [cases[name] for name in case.get("depends_on", ()) if name in cases]
        if any(_Run(need).problems() for need in needs):  # then this case means nothing
            yield _check(case, problems, level="observe")
            return
    yield _check(case, problems)


SUITE = Suite("03-http-cache", {"unit.json": _unit, "sequences.json": _sequence})
