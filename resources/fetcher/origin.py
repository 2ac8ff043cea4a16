"""Where a URL leads: scheme, host and port, read by the one URL parser of the product and nothing else.

Two parsers that disagree about the host of a URL are how address guards are walked around (`http://a\\@b/`):
one checks `a`, the other connects to `b`. Here a URL is passed on as it is only if its origin is spelled the
canonical way; any other spelling is first replaced by the canonical one. Cost of the usual case: 0.3 µs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from resources.web.urls import MAX_URL_LENGTH, parse, url_without_credentials

__all__ = ["BadUrl", "Origin", "target"]

_DEFAULT_PORTS = {"http": 80, "https": 443}


class BadUrl(ValueError):
    """The URL cannot be requested; the message says why."""


@dataclass(frozen=True, slots=True)
class Origin:
    """`host` is lower-case ASCII, an IPv6 address without brackets; `port` is always set."""

    scheme: str
    host: str
    port: int

    @property
    def domain(self) -> str:
        """`host[:port]`, the port left out where it is the default: the unit of politeness."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def target(url: str) -> tuple[str, Origin]:
    """(the URL to send, its origin). User names and passwords are dropped: what a site needs to authenticate
    stands in its site file, never in a link (RFC 9110 §4.2.4). Raises BadUrl."""
    if len(url) > MAX_URL_LENGTH:
        raise BadUrl(f"{len(url):,} characters; at most {MAX_URL_LENGTH:,} are sent")
    end = url.find("/", 8)
    if end > 0 and (origin := _origin(url[:end])) is not None:
        return url, origin
    parsed = parse(url)
    if parsed is None:
        raise BadUrl("not an http or https URL with a host")
    href = url_without_credentials(parsed.href)
    origin = _origin(href[: href.index("/", 8)])
    if origin is None:
        raise BadUrl("its host cannot be told for certain")
    return href, origin


@lru_cache(maxsize=65_536)
def _origin(text: str) -> Origin | None:
    """The origin that `scheme://host[:port]` spells; None unless this is its canonical spelling."""
    parsed = parse(text + "/")
    if parsed is None or parsed.href != text + "/" or parsed.username or parsed.password:
        return None
    port = int(parsed.port) if parsed.port else _DEFAULT_PORTS[parsed.scheme]
    return Origin(parsed.scheme, parsed.host.strip("[]"), port)
