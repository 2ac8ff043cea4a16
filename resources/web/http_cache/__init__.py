"""HTTP caching (RFC 9111) for a crawler: a private cache as a state machine without I/O.

    decision = decide(stored, request, now, policy)          # Serve | Revalidate | Fetch
    outcome = on_response(stored, request, response, now)    # Store | Update304 | DoNotStore | Invalidate | …

The caller does the rest: it sends what `decide` says, keeps `Stored` where it likes and bodies in the page
store. s-maxage and `private` mean nothing to a private cache; no-store is kept, no-cache means ask each time.
The site's own TTL and its precedence are in `Policy`.
"""

from __future__ import annotations

from .answering import DoNotStore, Invalidate, Outcome, RetryUnconditionally, Store, Update304, on_response
from .conditions import condition_fields, not_modified
from .deciding import Decision, Fetch, Revalidate, Serve, decide, served_headers, stale_on_error
from .exchange import Request, Response, Stored
from .freshness import Lifetime, current_age, freshness_lifetime, origin_lifetime
from .policy import CRAWL, Policy, TtlRule
from .ranges import ByteWindow
from .vary import add_variant, matches, select

__all__ = [
    "CRAWL",
    "ByteWindow",
    "Decision",
    "DoNotStore",
    "Fetch",
    "Invalidate",
    "Lifetime",
    "Outcome",
    "Policy",
    "Request",
    "Response",
    "RetryUnconditionally",
    "Revalidate",
    "Serve",
    "Store",
    "Stored",
    "TtlRule",
    "Update304",
    "add_variant",
    "condition_fields",
    "current_age",
    "decide",
    "freshness_lifetime",
    "matches",
    "not_modified",
    "on_response",
    "origin_lifetime",
    "select",
    "served_headers",
    "stale_on_error",
]
