"""The fetcher: a GET in, a result out. Never raises for anything a server can do.

Every way in which a fetch can end without a usable response has one `Cause`; the crawler's retry table,
the fetch log and the failed-URL taxonomy all use these words.

Headers and proxies may hold secrets: no `repr` of these values shows them, and no `FetchResult` does.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Literal, Protocol

from resources.record import record

__all__ = ["Cause", "FetchProfile", "FetchRequest", "FetchResult", "Fetcher", "ProxyPlan"]


class Cause(enum.StrEnum):
    """Why there is no usable response. A value of this enum is stored: never rename."""

    DNS = "dns"  # the name does not resolve
    ADDRESS_REFUSED = "address_refused"  # it resolves to an address we must not connect to
    REFUSED = "refused"  # nobody listens
    UNREACHABLE = "unreachable"  # no route, network down
    CONNECT_TIMEOUT = "connect_timeout"
    TLS = "tls"  # handshake or certificate
    RESET = "reset"  # connection closed before the response was whole
    READ_TIMEOUT = "read_timeout"  # silence between two pieces
    TOTAL_TIMEOUT = "total_timeout"  # the whole took too long
    BAD_RESPONSE = "bad_response"  # not HTTP as we know it
    HEADERS_TOO_LARGE = "headers_too_large"
    TRUNCATED = "truncated"  # body ended before its announced or coded end
    BAD_CODING = "bad_coding"  # content coding unknown or corrupt
    TOO_LARGE = "too_large"  # body over the limit
    BOMB = "bomb"  # decoded size out of all proportion
    PROXY = "proxy"  # the proxy failed, not the site
    NO_PROXY = "no_proxy"  # all proxies are banned
    BAD_URL = "bad_url"  # the transport cannot send this URL
    INTERNAL = "internal"  # a bug of ours or of the transport; the log has the trace


@dataclass(frozen=True, slots=True)
class ProxyPlan:
    """The proxies a site has opted into. `urls` hold credentials; `ban_s` is the first rest of a failing one."""

    urls: tuple[str, ...] = field(repr=False)
    choice: Literal["weighted", "random", "round_robin"] = "weighted"
    sticky: bool = True
    ban_s: float = 600.0


@dataclass(frozen=True, slots=True)
class FetchProfile:
    """Per-site constants of all its requests. Sizes in bytes, times in seconds.

    A profile with `proxies` and no `proxy` is never sent: whoever chooses one (`ProxiedFetcher`) fills `proxy`.
    """

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 30.0
    total_timeout_s: float = 120.0
    max_body: int = 20_000_000
    max_ratio: float = 400.0
    #: Networks that may be connected to although private, in CIDR form.
    allow_networks: tuple[str, ...] = ()
    #: What the site file allows as proxies; None: direct connections.
    proxies: ProxyPlan | None = None
    #: The one chosen for this request, with credentials.
    proxy: str | None = field(default=None, repr=False)


@record(slots=True, frozen=True)
class FetchRequest:
    """One GET; there is no other method. `headers` come on top of the profile's (validators, for instance)."""

    url: str
    profile: FetchProfile
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(slots=True)
class FetchResult:
    """What came of a request: either `status` with headers and decoded body, or a `cause`.

    Both can be set: a truncated or over-large response has a status and a cause, and `body` is what could be
    had of it, if anything.
    """

    url: str  # as requested, without credentials
    started_at: float  # epoch seconds
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""  # content codings removed
    wire_bytes: int = 0  # body bytes as they came
    ttfb_s: float | None = None  # request sent to headers received
    duration_s: float = 0.0
    cause: Cause | None = None
    error: str = ""  # for people; holds no credentials
    peer: str = ""  # address connected to; with a proxy that resolves names itself: empty
    http_version: str = ""
    lost: bool = (
        False  # RESET after the request went into its connection and before an answer: may be repeated
    )
    _lower: dict[str, str] = field(default_factory=dict, repr=False)

    def header(self, name: str) -> str | None:
        """First value of a header, name in lower case."""
        if not self._lower and self.headers:
            for key, value in reversed(self.headers):
                self._lower[key.lower()] = value
        return self._lower.get(name)

    def forget_lookup(self) -> None:
        """`headers` were replaced."""
        self._lower = {}


class Fetcher(Protocol):
    """One method, so that caches, recorders, proxies, browsers and fake webs can stand in."""

    async def fetch(self, request: FetchRequest) -> FetchResult: ...

    async def close(self) -> None: ...
