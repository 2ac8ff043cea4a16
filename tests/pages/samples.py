"""Page versions to store."""

from __future__ import annotations

from typing import Any

import xxhash

from resources.pages.base import Kind, PageHead, PageVersion

__all__ = ["DOMAIN", "article", "version"]

DOMAIN = "shop.example"


def version(
    path: str = "/", body: bytes = b"<h1>Hello</h1>", at: float = 1000.0, domain: str = DOMAIN, **fields: Any
) -> PageVersion:
    """What the crawl hands over for a page fetched at `at`."""
    url = f"https://{domain}{path}"
    values: dict[str, Any] = {
        "kind": Kind.PAGE,
        "status": 200,
        "headers": (("Content-Type", "text/html"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")),
        "validated_at": at,
        "first_seen_at": at,
        "changed_at": at,
    }
    head = PageHead(
        key=xxhash.xxh3_128_digest(url.encode()),
        url=url,
        domain=domain,
        content_hash=xxhash.xxh3_128_digest(body),
        body_bytes=len(body),
        fetched_at=at,
        **(values | fields),
    )
    return PageVersion(head, body)


def article(number: int) -> bytes:
    """A page of a site with a frame: about 20 KB, of which 2 KB are its own."""
    words = [xxhash.xxh3_64_hexdigest(f"{number} {place}".encode()) for place in range(120)]
    frame = "".join(
        f'<li class="nav-item"><a href="/c/{xxhash.xxh3_64_hexdigest(str(place).encode())}">Category</a></li>'
        for place in range(250)
    )
    return f"<html><nav>{frame}</nav><main><h1>{number}</h1><p>{' '.join(words)}</p></main></html>".encode()
