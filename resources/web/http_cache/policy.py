"""What the standard leaves to the cache, and the site's own TTL on top of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CRAWL", "Policy", "TtlRule"]

TtlRule = Literal["replace", "at-most", "at-least"]


@dataclass(frozen=True, slots=True)
class Policy:
    """Choices of one site. The defaults are RFC 9111 for a private cache.

    Precedence, the first that applies decides:
     1. no-store: never stored, never served (must-understand apart);
     2. no-cache: stored, asked about every time, unless `ttl_over_no_cache`;
     3. the site's `ttl`, combined with what follows by `ttl_rule`;
     4. max-age; 5. Expires; 6. the heuristic; 7. nothing: stale at once.
    """

    #: The site's own lifetime in seconds for this URL, or None.
    ttl: float | None = None
    #: How `ttl` meets the origin's lifetime: instead of it, or as its upper or lower bound.
    ttl_rule: TtlRule = "replace"
    #: Whether `ttl` also overrules no-cache. Off: who says no-cache wants to be asked.
    ttl_over_no_cache: bool = False
    #: Share of the time since Last-Modified that counts as fresh; 0 turns the heuristic off. A tenth is the
    #: typical setting named by RFC 9111, 4.2.2.
    heuristic_fraction: float = 0.1
    #: Upper bound of the heuristic in seconds; a week, as in Firefox: old pages do change.
    heuristic_limit: float = 7 * 86400.0
    #: Whether stale-while-revalidate lets a stale answer out (RFC 5861, 3). It saves latency, which a crawl
    #: does not need.
    stale_while_revalidate: bool = True
    #: Seconds past its lifetime for which a page may stand in when the origin cannot be reached, without
    #: the origin having said so by stale-if-error.
    stale_if_unreachable: float = 0.0
    #: Whether answers from 400 upwards may be stored when they are explicitly fresh. A crawl keeps an error
    #: in its fetch log, and never as a hit.
    store_errors: bool = True


#: What the crawler runs with where a site file says nothing else.
CRAWL = Policy(stale_while_revalidate=False, store_errors=False)
