"""Which stored responses an unsafe request makes invalid (RFC 9111, 4.4)."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from ..http_fields import first_value
from .exchange import Request, Response

__all__ = ["SAFE_METHODS", "invalidated_urls", "resolves_to"]

#: Methods that promise to change nothing (RFC 9110, 9.2.1); an unknown method promises nothing.
SAFE_METHODS = frozenset(["GET", "HEAD", "OPTIONS", "TRACE"])


def invalidated_urls(request: Request, response: Response) -> tuple[str, ...]:
    """The URLs to drop: the target, and Location and Content-Location of the same origin. No repeats."""
    urls = {request.url: None}
    for name in ("location", "content-location"):
        value = first_value(response.headers, name)
        url = None if value is None else _resolved(value, request.url)
        if url is not None and _origin(url) == _origin(request.url):
            urls[url] = None
    return tuple(urls)


def resolves_to(reference: str, url: str) -> bool:
    """Whether `reference`, read relative to `url`, is `url` itself."""
    return _resolved(reference, url) == url


def _resolved(reference: str, base: str) -> str | None:
    try:
        return urljoin(base, reference)
    except ValueError:  # such as a broken IPv6 host
        return None


def _origin(url: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        return parts.scheme, parts.hostname or "", port
    except ValueError:
        return None
