"""The parts of a site file that say how to crawl: scope, identity, pace, retry, cache, urls, canaries."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from .patterns import UrlPattern
from .quantities import ByteCount, Duration, Rate

__all__ = [
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
    "UrlRules",
    "Window",
]


class Rules(BaseModel):
    """Base of all site-file models: unknown keys are errors, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def _pattern(text: str) -> str:
    UrlPattern(text)
    return text


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except Exception:
        raise ValueError(
            f"{name!r} is no IANA time zone: write one such as 'Europe/Berlin' or 'UTC'"
        ) from None
    return name


Pattern = Annotated[str, AfterValidator(_pattern)]
Zone = Annotated[str, AfterValidator(_zone)]


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

    @field_validator("headers")
    @classmethod
    def _header_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", name) or "\n" in text or "\r" in text:
                raise ValueError(
                    f"{name!r} is no valid header: a name of letters and dashes, a value of one line"
                )
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
            raise ValueError(f"{value!r} is no time of day: write '22:00' (quoted, 24 hours)")
        return value


class PaceRules(Rules):
    """How fast. The default finds the rate the site tolerates and stays under it."""

    rate: Rate = None
    """`auto` (default): learned. A number or `30/min`: a ceiling. `unlimited`: your own servers only."""
    burst: Annotated[int, Field(ge=1, le=100)] = 1
    """Requests that may go at once after a pause."""
    concurrency: Annotated[int, Field(ge=1, le=64)] | None = None
    """Requests in flight at once: 1 to 5 (default 5); up to 64 with `rate: unlimited` (default 16)."""
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.3
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
            raise ValueError("concurrency above 5 needs 'rate: unlimited' (a server of your own)")
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


class CacheRule(Rules):
    """How long pages count as fresh: the first rule that matches wins."""

    match: Pattern = "/*"
    content_type: str | None = None
    """Media type or its start, as in `text/html` or `image/`."""
    ttl: Duration


class CacheRules(Rules):
    """When a page is due again. Precedence: a rule here, then `ttl`, then the response's own freshness."""

    ttl: Duration | None = None
    """For every page without a rule. Unset: what the response says (RFC 9111), at least `min_ttl`."""
    rules: tuple[CacheRule, ...] = ()
    min_ttl: Duration = 0.0
    """Never due sooner than this, whatever the response says."""
    max_ttl: Duration = 30 * 86400.0
    """Never due later than this."""
    respect_no_store: bool = False
    """Do not keep bodies of `Cache-Control: no-store` responses (they still make rows)."""
    keep_versions: Annotated[int, Field(ge=1, le=1000)] = 2
    """Bodies kept per URL, the current one included."""


class UrlRules(Rules):
    """When two URLs are the same page, beyond what the standards say."""

    trailing_slash: Literal["keep", "strip", "add"] = "keep"
    drop_parameters: tuple[str, ...] = ()
    """Query parameters to cut, exact names or `prefix*`."""
    drop_tracking: bool = True
    """Cut well-known tracking parameters (utm_*, gclid, fbclid …)."""
    sort_query: bool = False
    index_pages: tuple[str, ...] = ()
    """File names equal to their directory, such as `index.html`."""


class Canary(Rules):
    """A page that must look right before a night may start, and after it."""

    url: str
    status: Annotated[int, Field(ge=100, le=599)] = 200
    contains: tuple[str, ...] = ()
    """Pieces of text that must be on the page."""
    min_bytes: ByteCount = 1
    max_seconds: Duration = 30.0

    @field_validator("contains", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


class Limits(Rules):
    """Bounds on every response of the site."""

    connect_timeout: Duration = 10.0
    read_timeout: Duration = 30.0
    """Longest silence between two pieces of a response."""
    total_timeout: Duration = 120.0
    max_body: ByteCount = 20_000_000
    """Decoded bytes; a larger body is cut off and recorded as `too_large`."""
    max_ratio: Annotated[float, Field(ge=10)] = 400.0
    """Decoded against wire bytes, past 1 MB: a decompression bomb."""
    max_redirects: Annotated[int, Field(ge=0, le=20)] = 5


class ProxyRules(Rules):
    """Opt-in proxies. All banned means a pause with a cause, never a silent direct request."""

    urls: tuple[str, ...]
    """`http://`, `https://` or `socks5://`; `${NAME}` is taken from the environment."""
    choice: Literal["weighted", "random", "round_robin"] = "weighted"
    sticky: bool = True
    """One proxy per domain as long as it is healthy."""
    ban_seconds: Duration = 600.0


class Quality(Rules):
    """What the audit accepts before tonight's rows replace last night's."""

    max_drop: Annotated[float, Field(ge=0, le=1)] = 0.3
    """Largest fall of the number of pages or items against the median of the last nights."""
    nights: Annotated[int, Field(ge=1, le=90)] = 7
    min_coverage: Annotated[float, Field(ge=0, le=1)] = 0.9
    """Share of sitemap URLs that must be fetched, failed or excluded for a reason."""
    min_field_coverage: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Share of rows in which an optional field that used to be filled must still be filled."""
    max_rejects: Annotated[float, Field(ge=0, le=1)] = 0.2
    """Largest share of item rows that may be rejected."""
    max_age: Duration = 3 * 86400.0
    """Oldest acceptable last success of a domain."""
