"""The parts of a site file that say how to crawl: scope, retry, cache, urls, canaries, limits, traps, proxies, quality."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from resources.web.urls import domain_of, redact, url_without_credentials

from .base import Pattern, Rules, Span
from .problems import FieldError
from .quantities import ByteCount, Duration

__all__ = [
    "CacheRule",
    "CacheRules",
    "Canary",
    "Limits",
    "ProxyRules",
    "Quality",
    "RetryRules",
    "Scope",
    "TrapRules",
    "UrlRules",
]


class Scope(Rules):
    """Which URLs belong to the crawl."""

    include: tuple[Pattern, ...] = ()
    """Only URLs that match one of these are fetched (seeds too). Empty: everything on the domains."""
    exclude: tuple[Pattern, ...] = ()
    """URLs that match one of these are recorded as excluded, never fetched. Wins over `include`."""
    max_depth: Annotated[int, Field(ge=0)] | None = None
    """Links away from a seed. Seeds and sitemap URLs have depth 0. Unset: no limit."""
    max_pages: Annotated[int, Field(ge=1)] | None = None
    """Most pages fetched per domain and night; the rest stays pending for the next one."""
    query: Literal["keep", "drop", "ignore"] = "keep"
    """`keep`: URLs with a query are pages of their own. `drop`: the query is cut off. `ignore`: such URLs
    are excluded."""
    nofollow: Literal["obey", "ignore"] = "obey"
    """Whether rel=nofollow links and nofollow pages feed the frontier."""
    iframes: bool = False
    """Follow iframe sources too."""


class RetryRules(Rules):
    """What happens to a URL that failed."""

    attempts: Annotated[int, Field(ge=1, le=20)] = 3
    """Counted attempts in the fetch stage before a URL becomes a dead letter."""
    retry_pass_attempts: Annotated[int, Field(ge=1, le=40)] = 6
    """The higher cap of the retry pass."""
    base: Duration = 2.0
    """Full jitter: uniform(0, min(cap, base * 2^(n-1)))."""
    cap: Duration = 300.0
    """Longest wait between two attempts of one URL."""

    @model_validator(mode="after")
    def _more_for_the_pass(self) -> RetryRules:
        if self.retry_pass_attempts < self.attempts:
            raise FieldError(
                "must be at least 'attempts': the retry pass comes after them", "retry_pass_attempts"
            )
        return self


class CacheRule(Rules):
    """How long pages count as fresh: the first rule that matches wins."""

    match: Pattern = "/*"
    """URLs it is about."""
    content_type: str | None = None
    """Media type or its start, as in `text/html` or `image/`."""
    ttl: Duration
    """How long such a page counts as fresh."""


class CacheRules(Rules):
    """When a page is due again. Precedence: a rule here, then `ttl`, then the response's own freshness."""

    ttl: Duration | None = None
    """For every page without a rule. Unset: what the response says (RFC 9111), at least `min_ttl`."""
    rules: tuple[CacheRule, ...] = ()
    """For some pages or content types; the first that matches wins."""
    min_ttl: Duration = 0.0
    """Never due sooner than this, whatever the response says."""
    max_ttl: Duration = 30 * 86400.0
    """Never due later than this."""
    respect_no_store: bool = False
    """Do not keep bodies of `Cache-Control: no-store` responses (they still make rows)."""
    keep_versions: Annotated[int, Field(ge=1, le=1000)] = 2
    """Bodies kept per URL, the current one included."""

    @model_validator(mode="after")
    def _least_below_most(self) -> CacheRules:
        if self.min_ttl > self.max_ttl:
            raise FieldError("is longer than max_ttl: shorten it", "min_ttl")
        return self


class UrlRules(Rules):
    """When two URLs are the same page, beyond what the standards say."""

    trailing_slash: Literal["keep", "strip", "add"] = "keep"
    """`strip` or `add` when `/a` and `/a/` are one page on this site."""
    drop_parameters: tuple[str, ...] = ()
    """Query parameters to cut, exact names or `prefix*`."""
    drop_tracking: bool = True
    """Cut well-known tracking parameters (utm_*, gclid, fbclid …)."""
    sort_query: bool = False
    """Sort query parameters by name: only where their order never matters."""
    index_pages: tuple[str, ...] = ()
    """File names equal to their directory, such as `index.html`."""
    audit: Annotated[int, Field(ge=0, le=20)] = 20
    """Most requests a night that check whether these rules merge different pages; 0: none."""


class Canary(Rules):
    """A page that must look right before a night may start, and after it."""

    url: str
    """Whole URL on one of the domains."""
    status: Annotated[int, Field(ge=100, le=599)] = 200
    """Status it must answer with."""
    contains: tuple[str, ...] = ()
    """Pieces of text that must be on the page."""
    min_bytes: ByteCount = 1
    """Least size of the decoded body."""
    max_seconds: Duration = 30.0
    """Longest time the page may take."""

    @field_validator("url")
    @classmethod
    def _whole(cls, value: str) -> str:
        if domain_of(value) is None:
            raise ValueError(f"{redact(value)!r} is no http(s) URL: write it whole")
        return value

    @field_validator("contains", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


class Limits(Rules):
    """Bounds on every response of the site."""

    connect_timeout: Span = 10.0
    """Longest time until the connection stands, TLS included."""
    read_timeout: Span = 30.0
    """Longest silence between two pieces of a response."""
    total_timeout: Span = 120.0
    """Longest time for a whole response."""
    max_body: Annotated[ByteCount, Field(ge=1)] = 20_000_000
    """Decoded bytes; a larger body is cut off and recorded as `too_large`."""
    max_ratio: Annotated[float, Field(ge=10)] = 400.0
    """Decoded against wire bytes, past 1 MB: a decompression bomb."""
    max_redirects: Annotated[int, Field(ge=0, le=20)] = 5
    """Hops of one chain; a longer one is recorded as too_many_redirects."""


class TrapRules(Rules):
    """The guard against places without end: calendars, session ids, lists whose next page never ends. What it excludes
    stands in `excluded_urls` and is asked again on later nights."""

    guard: Literal["on", "off"] = "on"
    """`off`: nothing is taken for a trap; bound the crawl with `scope.max_pages` or `scope.exclude` instead."""
    trust: tuple[Pattern, ...] = ()
    """URLs that are pages of their own whatever they look like, as in `/item/*`: never judged, never excluded."""
    trust_parameters: tuple[str, ...] = ()
    """Query parameters that name pages and are no session ids."""
    patience: Annotated[float, Field(ge=1, le=1000)] = 1.0
    """So many times the usual number of pages that say nothing new is endured before a place is closed."""


class ProxyRules(Rules):
    """Opt-in proxies. All banned means a pause with a cause, never a silent direct request."""

    urls: tuple[str, ...]
    """`http://`, `https://` or `socks5://`; `${NAME}` is taken from the environment."""
    choice: Literal["weighted", "random", "round_robin"] = "weighted"
    """How one is chosen; `weighted` by health: share of good answers, and speed."""
    sticky: bool = True
    """One proxy per domain as long as it is healthy."""
    ban_seconds: Duration = 600.0
    """How long a banned proxy rests before a probe; doubled each time the probe fails."""

    @field_validator("urls")
    @classmethod
    def _proxy_urls(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise ValueError("is empty: name a proxy, or remove 'proxies' for direct connections")
        for index, url in enumerate(value):
            if not re.fullmatch(r"\$\{\w+\}|(https?|socks5h?)://\S+", url):
                raise FieldError(
                    f"{url_without_credentials(url)!r} is no proxy: begin with http://, https:// or socks5://",
                    index,
                )
            if re.search(r"://[^/@$]*:[^/@$]+@", url):
                raise FieldError(
                    "holds a password: write ${NAME} there and set NAME in the environment", index
                )
        return value


class Quality(Rules):
    """What the audit accepts before tonight's rows replace last night's."""

    max_drop: Annotated[float, Field(ge=0, le=1)] = 0.3
    """Largest fall of the number of pages or items against the median of the last nights."""
    nights: Annotated[int, Field(ge=1, le=90)] = 7
    """How many last nights the median is taken of."""
    min_coverage: Annotated[float, Field(ge=0, le=1)] = 0.9
    """Share of sitemap URLs that must be fetched, failed or excluded for a reason."""
    min_field_coverage: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Share of rows in which an optional field that used to be filled must still be filled."""
    max_rejects: Annotated[float, Field(ge=0, le=1)] = 0.2
    """Largest share of item rows that may be rejected."""
    max_age: Duration = 3 * 86400.0
    """Oldest acceptable last success of a domain."""
