"""What a URL of the shop is, before any misbehaviour: status, body, headers, and what kind of place it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

__all__ = ["PAGE_KINDS", "TRAP_KINDS", "Kind", "Resource"]

Kind = Literal[
    "front",
    "list",
    "category",
    "product",
    "page",  # /about, /archive and other single pages
    "noindex",
    "nofollow",
    "soft_404",
    "private",  # behind Disallow: account, search, sorted lists
    "redirect",
    "dead",
    "broken",
    "session",
    "calendar",
    "endless",
    "robots",
    "sitemap",
    "asset",
    "unknown",  # a URL nobody links to
    "down",  # connections of a site that is down
]

# Places that have no end: a crawler that fetches many of them is lost.
TRAP_KINDS: frozenset[Kind] = frozenset(("session", "calendar", "endless"))
# Places with content of their own, answered 200.
PAGE_KINDS: frozenset[Kind] = frozenset(
    ("front", "list", "category", "product", "page", "noindex", "nofollow", "soft_404", "private")
)
assert set(get_args(Kind)) >= TRAP_KINDS | PAGE_KINDS


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource on one night."""

    kind: Kind
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    last_modified: datetime | None = None
    headers: tuple[tuple[str, str], ...] = ()
    location: str = ""
    static: bool = False
    """Takes `cache_control_static`."""
    compressible: bool = True
    kept: bool = True
    """False: one of endlessly many, do not keep it in a cache."""
