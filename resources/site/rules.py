"""The parts of a site file that say how to crawl: scope, identity, pace, retry, cache, urls, canaries."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from resources.web.urls import domain_of, redact, url_without_credentials

from .patterns import UrlPattern
from .problems import FieldError
from .quantities import ByteCount, Duration, Rate

__all__ = [
    "REMEMBERED",
    "CacheRule",
    "CacheRules",
    "Canary",
    "Identity",
    "Limits",
    "PaceRules",
    "ProxyRules",
    "Quality",
    "RetryRules",
    "Rules",
    "Scope",
    "TrapRules",
    "UrlRules",
    "Window",
    "alike",
]


#: Texts found good that need not be looked at again: thousands of site files have a handful of crons, zones, patterns
#: and selectors, and each takes longer than the rest of the file.
REMEMBERED = 4_096


def alike() -> WrapValidator:
    """For a field of a site file that often says what other files say: what says the same becomes one object. Thousands
    of sites that are alike take a fifth of the memory, and half the time to read."""

    @lru_cache(maxsize=REMEMBERED)
    def place(words: str) -> list[Any]:
        """Where what `words` came to is kept; empty until then, and for ever if they are wrong."""
        del words  # the cache's key
        return []

    def as_before(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        if type(value) is not dict:
            return handler(value)
        # repr tells apart what is equal and not the same: 1, 1.0, True and '1'.
        known = place(repr(value))
        if not known:
            known.append(handler(value))
        return known[0]

    return WrapValidator(as_before)


class Rules(BaseModel):
    """Base of all site-file models: unknown keys are errors, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


@lru_cache(maxsize=REMEMBERED)
def _pattern(text: str) -> str:
    UrlPattern(text)
    return text


@lru_cache(maxsize=REMEMBERED)
def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f"{name!r} is no IANA time zone: write one such as 'Europe/Berlin' or 'UTC'"
        ) from None
    return name


Pattern = Annotated[str, AfterValidator(_pattern)]
Zone = Annotated[str, AfterValidator(_zone)]
Span = Annotated[Duration, Field(gt=0)]


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


#: Headers that frame the request or belong to the cache: a value from a site file would break one or the other.
CRAWLERS_OWN_HEADERS = frozenset({"host", "connection", "content-length", "transfer-encoding", "te", "upgrade", "trailer",
                                  "accept-encoding", "if-none-match", "if-modified-since", "if-match", "range"})  # fmt: skip


class Identity(Rules):
    """Who the crawler says it is. Sites block strangers first."""

    user_agent: str | None = None
    """Product token and contact, as in `AcmePrices/1.0 (+https://acme.example/bot)`. Made from `contact` if
    unset."""
    contact: str | None = None
    """A URL or mail address where the site's owner reaches you. Required for public hosts."""
    from_header: bool = True
    """Send `From:` (RFC 9110 §10.1.2) when `contact` is a mail address."""
    agents: tuple[str, ...] = ()
    """Opt-in pool of user agents; each domain keeps one of them for good."""
    headers: dict[str, str] = {}
    """More request headers. `${NAME}` is taken from the environment and never logged."""

    @field_validator("user_agent")
    @classmethod
    def _printable(cls, value: str | None) -> str | None:
        if value is not None and (not value.strip() or not value.isascii() or not value.isprintable()):
            raise ValueError(
                "user_agent must be printable ASCII, as in 'AcmePrices/1.0 (+https://acme.example/bot)'"
            )
        return value

    @field_validator("agents")
    @classmethod
    def _printable_agents(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for index, agent in enumerate(value):
            if not agent.strip() or not agent.isascii() or not agent.isprintable():
                raise FieldError("a user agent is printable ASCII", index)
        return value

    @field_validator("contact")
    @classmethod
    def _reachable(cls, value: str | None) -> str | None:
        if value is None:
            return None
        mail = re.fullmatch(r"[!-?A-~]+@[!-?A-~]+", value)
        if not mail and domain_of(value) is None:
            raise ValueError(
                f"{url_without_credentials(value)!r} is neither a URL nor a mail address: write one where the "
                "site's owner reaches you, as in 'https://acme.example/bot' or 'crawl@acme.example'"
            )
        return value

    @field_validator("headers")
    @classmethod
    def _header_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", name):
                raise FieldError(f"{name!r} is no header name: letters, digits and dashes only", name)
            if not text.isprintable() or not text.isascii():
                raise FieldError("a header value is one line of printable ASCII", name)
            if name.lower() == "user-agent":
                raise FieldError("write identity.user_agent instead", name)
            if name.lower() in CRAWLERS_OWN_HEADERS:
                raise FieldError("is the crawler's own business: remove it", name)
        return value


class Window(Rules):
    """When the site may be crawled, in its own time zone; daylight saving is honoured."""

    start: str
    """Local time of day, `22:00`."""
    end: str
    """Local time of day, `06:00`; earlier than `start` means the next day."""
    days: tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...] = ()
    """Days on which the window opens. Empty: every day."""
    zone: Zone = "UTC"
    """IANA time zone."""

    @field_validator("start", "end")
    @classmethod
    def _time(cls, value: str) -> str:
        if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", str(value)):
            raise ValueError(f"{value!r} is no time of day: write '22:00' (24 hours, two digits each)")
        return value

    @model_validator(mode="after")
    def _some_time(self) -> Window:
        if self.start == self.end:
            raise FieldError("equals start: for all day leave the window out", "end")
        return self


class PaceRules(Rules):
    """How fast. The default finds the rate the site tolerates and stays under it."""

    rate: Rate = None
    """`auto` (default): learned. A number or `30/min`: a ceiling. `unlimited`: your own servers only."""
    burst: Annotated[int, Field(ge=1, le=100)] = 1
    """Requests that may go at once after a pause."""
    concurrency: Annotated[int, Field(ge=1, le=64)] | None = None
    """Requests in flight at once: 1 to 5 (default 5); up to 64 with `rate: unlimited` (default 16)."""
    jitter: Annotated[float, Field(ge=0, le=0.9)] = 0.3
    """Each gap is stretched by up to this share, so that requests do not tick like a clock."""
    crawl_delay: Literal["obey", "ignore"] | Annotated[float, Field(ge=0)] = "obey"
    """`obey` the Crawl-delay of robots.txt, `ignore` it, or seconds of your own."""
    crawl_delay_max: Duration = 60.0
    """A longer Crawl-delay puts the domain off rather than holding a worker."""
    ramp_up: Duration | None = None
    """Half the rate for this long at the start. Default: 2 minutes for a fixed rate, slow start for `auto`."""
    min_rate: Rate = 1 / 60
    """The floor of learning: throttled here, the domain is paused."""
    max_rate: Rate = 200.0
    """The ceiling of learning for `auto`."""
    retry_after_max: Duration = 900.0
    """A longer Retry-After puts the domain off to a later night."""
    window: Window | None = None
    """Off-peak hours; a crawl that meets the end checkpoints and ends."""

    @field_validator("min_rate", "max_rate")
    @classmethod
    def _number(cls, value: float | None) -> float | None:
        if value is None:
            raise ValueError("write a number here, such as 0.5 or '30/min'")
        return value

    @model_validator(mode="after")
    def _concurrency_limit(self) -> PaceRules:
        if self.concurrency is not None and self.concurrency > 5 and self.rate != float("inf"):
            raise FieldError("above 5 needs 'rate: unlimited' (a server of your own)", "concurrency")
        return self

    @model_validator(mode="after")
    def _floor_below_ceiling(self) -> PaceRules:
        if isinstance(self.rate, float) and self.rate < (self.min_rate or 0.0):
            raise FieldError(
                "is below min_rate, where a domain is paused: raise it or lower min_rate", "rate"
            )
        if (self.min_rate or 0.0) > (self.max_rate or 0.0):
            raise FieldError("is above max_rate: lower it", "min_rate")
        return self


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
