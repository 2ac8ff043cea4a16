"""`freshness`: how old the published rows of a domain are."""

from __future__ import annotations

from crawl_assets.checks.finding import Finding, domain_check

__all__ = ["SPEC", "freshness"]

SPEC = domain_check(
    "freshness",
    "published",
    "The domain's last successful publication is younger than quality.max_age. When red: readers see old rows. Look "
    "at the first red stage of the domain; its words say what to mend.",
)


def freshness(published_at: float | None, now: float, max_age_s: float) -> Finding:
    """Instants are epoch seconds; None: nothing of the domain was ever published."""
    if published_at is None:
        return Finding(
            False, "nothing of this domain was ever published", {"age h": -1.0, "limit h": max_age_s / 3600}
        )
    age = max(0.0, now - published_at)
    numbers = {"age h": round(age / 3600, 2), "limit h": round(max_age_s / 3600, 2)}
    if age > max_age_s:
        return Finding(
            False,
            f"published {age / 86400:.1f} days ago; at most {max_age_s / 86400:.1f} are allowed",
            numbers,
        )
    return Finding(True, f"published {age / 3600:.1f} h ago", numbers)
