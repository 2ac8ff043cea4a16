"""Which robots.txt governs a URL: the one at the root of its scheme, host and port (RFC 9309 2.3)."""

from __future__ import annotations

from ada_url import URL

__all__ = ["governs", "robots_url"]


def _origin(url: str) -> tuple[str, str, str] | None:
    """Scheme, host and port as a URL parser normalises them (case, IDNA, default port)."""
    try:
        parsed = URL(url)
    except ValueError:
        return None
    if parsed.protocol not in ("http:", "https:"):
        return None
    return parsed.protocol, parsed.hostname, parsed.port


def robots_url(url: str) -> str | None:
    """Where the robots.txt that governs `url` lives; None when it is no http(s) URL."""
    origin = _origin(url)
    if origin is None:
        return None
    scheme, host, port = origin
    return f"{scheme}//{host}{':' + port if port else ''}/robots.txt"


def governs(robots: str, url: str) -> bool:
    """Whether the file asked for at URL `robots` holds for `url`; a file in a folder holds for nothing."""
    own = robots_url(robots)
    if own is None:
        return False
    return URL(robots).pathname == "/robots.txt" and own == robots_url(url)
