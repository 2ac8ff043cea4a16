"""What the practice site does wrong, one field a misbehaviour, all quiet unless asked for.

Every field is a scalar, so the same list serves as Python argument, command line flag (`--error-share 0.02`)
and live switch (`POST /_control/set?error_share=0.02`). Shares are 0..1 of the pages concerned, chosen by
hash of the site's seed: the same seed always picks the same pages. Numbers of things are counts of links on
`/archive`. Rates are requests per second and client address; 0 switches a limit off.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

__all__ = ["PRESETS", "Behaviour", "Preset", "behaviour_fields", "changed", "parse_value"]

Preset = Literal["tame", "default", "wild"]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """All switches of one site. `Behaviour()` is a well-kept shop with no traps and no limits."""

    # robots.txt and sitemaps
    robots: Literal["rules", "none", "allow_all", "disallow_all", "error", "redirect"] = "rules"
    """`none` is a 404, `error` a 503, `redirect` a 301 to the rules under another name."""
    crawl_delay: float = 0.0
    """Seconds in the Crawl-delay line; 0 leaves the line out."""
    sitemap: Literal["index", "plain", "broken", "off"] = "index"
    """`broken` serves sitemaps that stop in the middle of an entry; `off` answers 404 and robots.txt is silent."""
    sitemap_gzip: bool = True
    sitemap_size: int = 500
    """URLs in one sitemap of the index."""
    orphans: int = 0
    """Books that only the sitemap names (the last ones of the catalogue)."""

    # what a client may keep
    etag: Literal["strong", "weak", "off"] = "strong"
    last_modified: bool = True
    cache_control: str = "no-cache"
    """Of shop pages: keep it, but ask each time. Empty leaves the header out."""
    cache_control_static: str = "max-age=86400"
    """Of /about, /contact and the like, which never change."""
    compression: Literal["both", "gzip", "brotli", "off"] = "both"
    keep_alive_requests: int = 0
    """Close a connection after this many answers; 0 never does."""

    # links that lead elsewhere or nowhere
    redirects: int = 0
    """Links that answer 301, 302, 307, 308 in turn, each to a book."""
    redirect_chain: int = 0
    """Hops of one chain of redirects that ends at a book; above 5 a careful client gives up."""
    redirect_loop: bool = False
    dead_links: int = 0
    """Links that answer 404 and 410 in turn."""
    broken_pages: int = 0
    """Links that always answer 500."""
    soft_404s: int = 0
    """Links that answer 200 and say "not found" in the text."""
    noindex_pages: int = 0
    """Pages marked noindex, by meta and by X-Robots-Tag in turn."""
    nofollow_pages: int = 0
    """Pages marked nofollow, each the only way to one more page; and as many links with rel=nofollow."""
    external_links: int = 0
    """Links on /links to domains that do not exist (`*.example`)."""

    # pages that are hard to read
    foreign_share: float = 0.0
    """Books in windows-1251, shift_jis or gbk, named by header, meta or both in turn."""
    structured_data: Literal["full", "broken", "off"] = "full"
    """`broken` puts JSON-LD with a trailing comma and a price as text on every second book."""
    untidy_links: bool = False
    """The same page in several equal spellings: fragments, dot segments, lower-case and needless escapes."""
    page_bytes: int = 0
    """Pad product pages up to about this size; 0 leaves them at about 5 KB."""
    layout: Literal[1, 2] = 1
    """Class names of the HTML; 2 renames every one that a selector could use."""
    layout_change_night: int = 0
    """From this night on the site uses layout 2; 0 never changes."""

    # pages that fail for a while, counted per URL and night
    error_share: float = 0.0
    error_attempts: int = 1
    """How often such a page answers 500 or 503 before it answers well."""
    error_retry_after: bool = True
    """Whether a 503 says Retry-After: 1."""
    truncated_share: float = 0.0
    truncated_attempts: int = 1
    """How often such a page closes in the middle of its Content-Length."""
    slow_share: float = 0.0
    slow_seconds: float = 1.0
    latency: float = 0.0
    """Seconds before every answer."""

    # traps
    session_trap: Literal["off", "section", "everywhere"] = "off"
    """A new `?sid=` in every link, in /browse only or in every link of the site."""
    calendar_trap: bool = False
    """/events/YYYY/MM, each with a link to the next month, for ever."""
    next_loop: Literal["off", "back", "endless"] = "off"
    """/new?page=N: after the last page `next` leads to page 1, or to ever new pages with the same books."""

    # how much a client may ask
    rate: float = 0.0
    burst: int = 10
    limit_status: Literal[429, 503] = 429
    retry_after: Literal["seconds", "date", "none"] = "seconds"
    retry_after_seconds: int = 0
    """0: until the next token is there, at least 1."""
    wall_rate: float = 0.0
    """More than this many requests within one second raise a challenge page."""
    wall_seconds: float = 10.0
    wall_status: Literal[200, 403, 503] = 200
    walled: bool = False
    """The challenge page for everything, always (robots.txt too)."""
    ban_after: int = 0
    """This many refusals by the limiter ban the address; 0 never bans."""
    ban_seconds: float = 300.0
    ban_status: Literal[403, 429] = 403

    # how much the machine can do
    workers: int = 0
    """Requests served at once; 0 is no limit. The others wait in a queue."""
    service_seconds: float = 0.05
    """What one request costs a worker, also when the client has gone."""
    queue: int = 50
    """Requests that may wait; beyond it the answer is 503 at once."""
    contention: float = 0.0
    """Service time grows by this factor with each request above `workers`: goodput then falls."""
    down: Literal["off", "reset", "hang", "503"] = "off"
    """The whole site: connections reset, never answered, or every answer 503."""

    # what changes between nights
    price_change_share: float = 0.1
    """Books whose price and stock change from one night to the next."""
    arrivals: int = 0
    departures: int = 0
    """Books that come and go each night; the gone answer 410."""


PRESETS: dict[Preset, Behaviour] = {
    "tame": Behaviour(),
    "default": Behaviour(
        orphans=5,
        redirects=8,
        redirect_chain=3,
        redirect_loop=True,
        dead_links=6,
        soft_404s=3,
        noindex_pages=4,
        nofollow_pages=2,
        external_links=5,
        foreign_share=0.04,
        error_share=0.01,
        truncated_share=0.005,
        slow_share=0.002,
        session_trap="section",
        calendar_trap=True,
        next_loop="back",
        rate=100.0,
        burst=50,
    ),
    "wild": Behaviour(
        crawl_delay=0.01,
        orphans=10,
        redirects=20,
        redirect_chain=7,
        redirect_loop=True,
        dead_links=20,
        broken_pages=5,
        soft_404s=10,
        noindex_pages=10,
        nofollow_pages=5,
        external_links=20,
        foreign_share=0.15,
        structured_data="broken",
        untidy_links=True,
        error_share=0.05,
        error_attempts=2,
        truncated_share=0.02,
        slow_share=0.01,
        session_trap="everywhere",
        calendar_trap=True,
        next_loop="endless",
        rate=50.0,
        burst=20,
        retry_after="date",
        wall_rate=150.0,
        wall_status=403,
        ban_after=200,
        ban_seconds=30.0,
        price_change_share=0.2,
        arrivals=3,
        departures=2,
    ),
}


def behaviour_fields() -> dict[str, Any]:
    """Name and resolved type of every switch, in order."""
    hints = get_type_hints(Behaviour)
    return {field.name: hints[field.name] for field in fields(Behaviour)}


def parse_value(name: str, text: str) -> object:
    """The value of switch `name` written as text. Raises ValueError naming the switch and what it takes."""
    kinds = behaviour_fields()
    if name not in kinds:
        raise ValueError(f"unknown behaviour {name!r}; known are: {', '.join(kinds)}")
    kind = kinds[name]
    if get_origin(kind) is Literal:
        for choice in get_args(kind):
            if str(choice) == text:
                return choice
        raise ValueError(f"{name}={text!r}: choose one of {', '.join(map(str, get_args(kind)))}")
    if kind is bool:
        if text.lower() in {"1", "true", "yes", "on"}:
            return True
        if text.lower() in {"0", "false", "no", "off"}:
            return False
        raise ValueError(f"{name}={text!r}: say true or false")
    if kind is str:
        return text
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{name}={text!r}: expected a number ({kind.__name__})") from None


def changed(behaviour: Behaviour, changes: dict[str, object]) -> Behaviour:
    """`behaviour` with `changes`; texts are parsed, other values taken as they are. Raises ValueError."""
    values: dict[str, Any] = {}
    for name, value in changes.items():
        values[name] = parse_value(name, value if isinstance(value, str) else str(value))
    return replace(behaviour, **values)
