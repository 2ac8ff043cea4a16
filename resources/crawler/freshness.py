"""When a stored page is due again: the site file first, then what its response says (RFC 9111).

Precedence: 1. the first `cache.rules` entry that matches; 2. `cache.ttl`; 3. the response's own freshness.
The result is never sooner than `cache.min_ttl` and never later than `cache.max_ttl`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from resources.fetcher.base import FetchResult
from resources.pages.base import PageHead
from resources.site.model import Site
from resources.site.patterns import UrlPattern
from resources.web.http_cache.conditions import condition_fields
from resources.web.http_cache.exchange import Request, Response, Stored
from resources.web.http_cache.freshness import current_age, freshness_lifetime, seconds_left
from resources.web.http_cache.policy import CRAWL
from resources.web.http_cache.storing import forbids_reuse, freshened
from resources.web.http_cache.vary import vary_names, vary_values
from resources.web.http_fields import cache_control

from .territory import DomainRules

__all__ = ["confirmed", "due_at", "no_store", "redirect_due_at", "site_ttl", "validators", "vary"]

#: A permanent redirect (RFC 9110 §15.4.2, 15.4.9) is asked again after a week: sites do take them back.
PERMANENT_REDIRECT_S = 7 * 86400.0


@lru_cache(maxsize=10_000)
def _pattern(text: str) -> UrlPattern:
    return UrlPattern(text)


def _stored(head: PageHead) -> Stored:
    return Stored(
        head.status, head.headers, head.vary, head.requested_at or head.validated_at, head.validated_at
    )


def validators(head: PageHead) -> tuple[tuple[str, str], ...]:
    """If-None-Match and If-Modified-Since of a stored page, exactly as they were received."""
    return condition_fields(_stored(head))


def vary(result: FetchResult, rules: DomainRules) -> tuple[tuple[str, str], ...]:
    """The request headers a response says it depends on, as they were sent."""
    if result.header("vary") is None:
        return ()
    names = [name for name in vary_names(result.headers) if name != "*"]
    return vary_values(rules.profile.headers, names)


def confirmed(head: PageHead, result: FetchResult, now: float) -> PageHead:
    """The stored head after a 304: fields taken over, body fields and status kept."""
    stored = freshened(
        _stored(head), Request(url=head.url), Response(304, result.headers, result.started_at), now
    )
    return replace(head, headers=stored.headers, validated_at=now, requested_at=result.started_at)


def no_store(head: PageHead) -> bool:
    return forbids_reuse(_stored(head))


def site_ttl(site: Site, head: PageHead) -> float | None:
    """What the site file says for this page, or None."""
    if not site.cache.rules:
        return site.cache.ttl
    media = next((v for k, v in head.headers if k.lower() == "content-type"), "").lower()
    for rule in site.cache.rules:
        if _pattern(rule.match).matches(head.url) and (
            rule.content_type is None or media.startswith(rule.content_type.lower())
        ):
            return rule.ttl
    return site.cache.ttl


def due_at(site: Site, head: PageHead, now: float) -> float:
    """Epoch seconds from which the page should be asked for again."""
    ttl = site_ttl(site, head)
    if ttl is None:
        received_at = head.validated_at
        ttl = seconds_left(
            head.status, head.headers, head.requested_at or received_at, received_at, CRAWL, now
        )
    if ttl is None:
        stored = _stored(head)
        if "no-cache" in cache_control(head.headers):
            ttl = 0.0
        else:
            ttl = freshness_lifetime(stored, CRAWL).seconds - current_age(stored, now)
    return now + min(max(ttl, site.cache.min_ttl, 0.0), site.cache.max_ttl)


def redirect_due_at(site: Site, result: FetchResult, now: float) -> float:
    """When a redirect is asked again: its own freshness if it has one, a week for permanent ones, else at once."""
    stored = Stored(result.status or 302, result.headers, (), result.started_at, now)
    lifetime = freshness_lifetime(stored, CRAWL)
    if lifetime.reason in ("max-age", "expires"):
        ttl = lifetime.seconds
    else:
        ttl = PERMANENT_REDIRECT_S if result.status in (301, 308) else 0.0
    return now + min(max(ttl, site.cache.min_ttl), site.cache.max_ttl)
