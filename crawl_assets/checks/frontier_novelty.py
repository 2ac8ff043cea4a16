"""`frontier_novelty`: what is fetched is new; a trap or a loop of pages gives the same thing for ever."""

from __future__ import annotations

from crawl_assets.checks.finding import WARN, Finding, domain_check

__all__ = ["SPEC", "frontier_novelty"]

SPEC = domain_check(
    "frontier_novelty",
    "fetched_pages",
    "Pages fetched for the first time differ from each other, and the queue does not grow without end. When it "
    "fails: look for a calendar, a session id or a 'next' link that never ends in `excluded_urls` and in the newest "
    "URLs of `nightcrawl why`, and add it to scope.exclude or urls.drop_parameters.",
)

#: Fewer new pages than this say nothing.
FEW = 30
#: Share of new pages whose body is another page's body too. Ordinary sites stay below 0.2 (empty lists, errors).
SAME_BODIES = 0.5
#: New URLs per request while the budget cut the night: an endless place gives a handful per page, every night.
GROWTH = 2.0


def frontier_novelty(
    new_pages: int, distinct_bodies: int, requests: int, new_urls: int, *, cut_short: bool
) -> Finding:
    """`new_pages`: pages first seen in this run; `distinct_bodies`: different bodies among them."""
    same = 1 - distinct_bodies / new_pages if new_pages else 0.0
    growth = new_urls / requests if requests else 0.0
    numbers = {
        "new pages": new_pages,
        "distinct bodies": distinct_bodies,
        "share of equal bodies": round(same, 4),
        "new urls per request": round(growth, 3),
    }
    if new_pages >= FEW and same > SAME_BODIES:
        return Finding(
            False, f"{same:.0%} of {new_pages:,} new pages have the body of another page", numbers, WARN
        )
    if cut_short and requests >= FEW and growth > GROWTH:
        return Finding(
            False, f"the queue grows by {growth:.1f} URLs per request and the budget ran out", numbers, WARN
        )
    return Finding(True, "new pages are new", numbers, WARN)
