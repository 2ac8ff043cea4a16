"""Before a request: may the stored response answer it, must it be asked about, or fetched anew? (RFC 9111, 4)"""

from __future__ import annotations

from dataclasses import dataclass

from ..http_fields import Directives, cache_control, first_value
from .conditions import condition_fields, not_modified
from .exchange import Fields, Request, Stored
from .freshness import Lifetime, current_age, delta_seconds, freshness_lifetime
from .invalidation import resolves_to
from .policy import Policy
from .ranges import ByteWindow, byte_window, is_partial
from .storing import forbids_reuse
from .vary import matches

__all__ = ["Decision", "Fetch", "Revalidate", "Serve", "decide", "served_headers", "stale_on_error"]


@dataclass(frozen=True, slots=True)
class Serve:
    """The stored response answers; no request goes out."""

    #: Of the answer: the stored status, 206 for a range of a whole body, 304 to a client's condition.
    status: int
    age: float
    lifetime: Lifetime
    #: The bytes of the stored body to serve; None: all of them.
    window: ByteWindow | None = None
    #: Past its lifetime (stale-while-revalidate, max-stale, stale-if-error).
    stale: bool = False
    #: The caller ought to revalidate soon.
    revalidate: bool = False


@dataclass(frozen=True, slots=True)
class Revalidate:
    """Send the request with `fields`, which replace those of the same name, and hand on the answer."""

    fields: Fields
    reason: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """Send the request as it is."""

    reason: str


Decision = Serve | Revalidate | Fetch


def decide(stored: Stored | None, request: Request, now: float, policy: Policy) -> Decision:
    """What to do with `request`, given the stored response for its URL, at time `now`.

    Cases, in order:
     1. nothing that could answer: other method, nothing stored, body lost, no-store, a part for the whole;
     2. another variant: ask with its entity tag, if it has one;
     3. somebody wants it asked: no-cache, the request's max-age and min-fresh;
     4. fresh: serve;
     5. stale, but stale-while-revalidate or the request's max-stale covers it: serve;
     6. stale: ask with the validators, fetch if there are none.
    """
    unusable = _unusable(stored, request)
    if stored is None or unusable is not None:
        return Fetch(unusable or "nothing stored")
    asked = cache_control(request.headers)
    if not matches(stored, request):
        return _ask(stored, request, "vary", etag_only=True)
    age, lifetime = current_age(stored, now), freshness_lifetime(stored, policy)
    reason = _wants_validation(stored, asked, age, lifetime, policy)
    if reason is not None:
        return _ask(stored, request, reason)
    if lifetime.seconds > age:
        return _serve(stored, request, age, lifetime)
    said = cache_control(stored.headers)
    if "must-revalidate" not in said:
        staleness = age - lifetime.seconds
        background = delta_seconds(said.get("stale-while-revalidate"))
        if policy.stale_while_revalidate and background is not None and staleness <= background:
            return _serve(stored, request, age, lifetime, stale=True, revalidate=True)
        if "max-stale" in asked:
            accepted = asked["max-stale"]
            limit = delta_seconds(accepted)
            if accepted is None or (limit is not None and staleness <= limit):
                return _serve(stored, request, age, lifetime, stale=True)
    return _ask(stored, request, f"stale: {lifetime.reason}")


def stale_on_error(stored: Stored | None, request: Request, now: float, policy: Policy) -> Serve | None:
    """The stored response as a stand-in when the origin cannot be reached or answers 500, 502, 503 or 504.

    Only if the origin (stale-if-error, RFC 5861, 4), the request or the policy allows that much staleness;
    never against must-revalidate, no-cache or no-store. None: report the error (504 in the standard's words).
    """
    if stored is None or _unusable(stored, request) is not None or not matches(stored, request):
        return None
    said, asked = cache_control(stored.headers), cache_control(request.headers)
    if "must-revalidate" in said or "no-cache" in said or "no-cache" in asked:
        return None
    age, lifetime = current_age(stored, now), freshness_lifetime(stored, policy)
    allowed = max(
        policy.stale_if_unreachable,
        delta_seconds(said.get("stale-if-error")) or 0,
        delta_seconds(asked.get("stale-if-error")) or 0,
    )
    if age - lifetime.seconds > allowed:
        return None
    return _serve(stored, request, age, lifetime, stale=age >= lifetime.seconds, revalidate=True)


def served_headers(stored: Stored, now: float) -> Fields:
    """The stored fields with the current Age, as a cache has to send them on (5.1)."""
    kept = tuple(pair for pair in stored.headers if pair[0].lower() != "age")
    return (*kept, ("Age", str(int(current_age(stored, now)))))


def _unusable(stored: Stored | None, request: Request) -> str | None:
    """Why the stored response cannot answer whatever its age; None when it can."""
    method = request.method.upper()
    if method not in ("GET", "HEAD"):
        return f"method {method}"
    if stored is None:
        return "nothing stored"
    if not stored.has_body:
        return "body lost"
    if forbids_reuse(stored):
        return "no-store"
    if "no-store" in cache_control(request.headers):
        return "no-store in the request"
    if stored.method != "GET" and not _is_reusable_post(stored, request):
        return f"stored answer to {stored.method}"
    wanted = _range(stored, request)
    if is_partial(stored) and wanted is None:
        return "only a part is stored"
    if wanted is not None and byte_window(stored, wanted) is None:
        return "range is not stored"
    return None


def _is_reusable_post(stored: Stored, request: Request) -> bool:
    """An answer to POST that says it is the page of that very URL answers a GET (RFC 9110, 9.3.3)."""
    location = first_value(stored.headers, "content-location")
    return stored.method == "POST" and location is not None and resolves_to(location, request.url)


def _range(stored: Stored, request: Request) -> str | None:
    """The Range that counts: none for HEAD, none when If-Range names another representation."""
    if request.method.upper() != "GET":
        return None
    condition = first_value(request.headers, "if-range")
    if condition is not None and condition != first_value(stored.headers, "etag"):
        return None
    return first_value(request.headers, "range")


def _wants_validation(
    stored: Stored, asked: Directives, age: float, lifetime: Lifetime, policy: Policy
) -> str | None:
    overruled = policy.ttl is not None and policy.ttl_over_no_cache
    said = cache_control(stored.headers)
    if "no-cache" in said and not overruled:
        return "no-cache"  # also with field names: the whole response is treated as meant
    if "no-cache" in asked:
        return "no-cache in the request"
    if "max-age" in asked:
        oldest = delta_seconds(asked["max-age"])
        # 0 is how a reload says "ask", and so is what cannot be read; an immutable page has no need to be
        # asked while it is fresh (RFC 8246, 2).
        reload_is_vain = oldest == 0 and "immutable" in said and lifetime.seconds > age
        if not reload_is_vain and (not oldest or age > oldest):
            return "max-age in the request"
    spare = delta_seconds(asked.get("min-fresh"))
    if spare is not None and lifetime.seconds - age < spare:
        return "min-fresh in the request"
    return None


def _ask(stored: Stored, request: Request, reason: str, *, etag_only: bool = False) -> Revalidate | Fetch:
    fields = condition_fields(stored, etag_only=etag_only)
    if not fields or is_partial(stored) or first_value(request.headers, "range") is not None:
        return Fetch(reason)
    return Revalidate(fields, reason)


def _serve(
    stored: Stored,
    request: Request,
    age: float,
    lifetime: Lifetime,
    *,
    stale: bool = False,
    revalidate: bool = False,
) -> Serve:
    if 200 <= stored.status < 300 and not_modified(stored, request):
        return Serve(304, age, lifetime, stale=stale, revalidate=revalidate)
    wanted = _range(stored, request)
    if wanted is not None and stored.status in (200, 206):
        return Serve(206, age, lifetime, byte_window(stored, wanted), stale, revalidate)
    return Serve(stored.status, age, lifetime, None, stale, revalidate)
