"""What may be stored, in which form, and how a 304 changes it (RFC 9111, 3, 3.1, 3.2, 4.3.4)."""

from __future__ import annotations

from dataclasses import replace

from ..http_fields import cache_control, field_lines, first_value, list_members
from .exchange import Fields, Request, Response, Stored
from .freshness import HEURISTICALLY_CACHEABLE
from .policy import Policy
from .ranges import parse_content_range
from .vary import vary_names, vary_values

__all__ = ["forbids_reuse", "freshened", "refusal", "to_stored"]

#: Fields of the connection, not of the response (RFC 9110, 7.6.1; RFC 9111, 3.1).
_CONNECTION_FIELDS = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authentication-info",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "transfer-encoding",
        "upgrade",
    ]
)

#: Fields that describe the stored bytes: a 304 never changes them. The standard names Content-Length; the
#: others are kept because the body was decoded and typed by them when it was stored (3.2).
_BODY_FIELDS = frozenset(["content-length", "content-encoding", "content-type", "content-range"])

#: Final statuses whose caching rules this module keeps: those of RFC 9110 (for must-understand).
_UNDERSTOOD = frozenset(
    [*range(200, 207), *range(300, 306), 307, 308, *range(400, 418), 421, 422, 426, *range(500, 506)]
)


def refusal(request: Request, response: Response, policy: Policy) -> str | None:
    """Why the answer to a GET (or POST with explicit freshness) may not be stored; None when it may (3)."""
    directives = cache_control(response.headers)
    status = response.status
    if status < 200:
        return "interim response"
    if "must-understand" in directives:
        # It takes the place of no-store for caches that know the status (5.2.2.3).
        if status not in _UNDERSTOOD:
            return "must-understand and an unknown status"
    elif "no-store" in directives:
        return "no-store"
    if "no-store" in cache_control(request.headers):
        return "no-store in the request"
    if status == 304:
        return "304 is no page"
    if status == 206 and parse_content_range(first_value(response.headers, "content-range")) is None:
        return "206 without a single byte range"
    if status >= 400 and not policy.store_errors:
        return f"error status {status}"
    explicit = (
        "max-age" in directives
        or "public" in directives
        or "private" in directives  # permission enough for a private cache
        or first_value(response.headers, "expires") is not None
    )
    if explicit or status in HEURISTICALLY_CACHEABLE or policy.ttl is not None:
        return None
    return f"status {status} without explicit freshness"


def forbids_reuse(stored: Stored) -> bool:
    """Whether the stored fields say no-store (a 304 may have brought it)."""
    directives = cache_control(stored.headers)
    return "no-store" in directives and "must-understand" not in directives


def to_stored(request: Request, response: Response, now: float) -> Stored:
    """`response` in the form in which it is stored; `now` is when it was received."""
    names = [name for name in vary_names(response.headers) if name != "*"]
    if response.status == 206:
        names.append("range")
    return Stored(
        status=response.status,
        headers=_end_to_end(response.headers),
        request_headers=vary_values(request.headers, names),
        requested_at=now if response.requested_at is None else response.requested_at,
        received_at=now,
        method=request.method.upper(),
    )


def freshened(stored: Stored, request: Request, response: Response, now: float) -> Stored:
    """`stored` with the fields of a 304 (or of a HEAD answer) taken over; its status and body stay.

    A field in the response replaces all lines of that name; fields it does not have stay as they were.
    """
    new = tuple(pair for pair in _end_to_end(response.headers) if pair[0].lower() not in _BODY_FIELDS)
    replaced = {name.lower() for name, _ in new}
    headers = (*(pair for pair in stored.headers if pair[0].lower() not in replaced), *new)
    if "age" not in replaced:  # the stored Age was of the old answer
        headers = tuple(pair for pair in headers if pair[0].lower() != "age")
    names = [name for name in vary_names(headers) if name != "*"]
    kept = tuple(pair for pair in stored.request_headers if pair[0] == "range")
    return replace(
        stored,
        headers=headers,
        request_headers=(*vary_values(request.headers, names), *kept),
        requested_at=now if response.requested_at is None else response.requested_at,
        received_at=now,
    )


def _end_to_end(headers: Fields) -> Fields:
    named = {name.lower() for name in list_members(field_lines(headers, "connection"))}
    drop = _CONNECTION_FIELDS | named
    return tuple(pair for pair in headers if pair[0].lower() not in drop)
