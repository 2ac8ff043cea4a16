"""The Nightcrawl site file that matches a practice site: the one place that knows its keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

__all__ = ["ITEM_TYPE", "site_document", "site_yaml"]

ITEM_TYPE = "book"
# Selectors of layout 1 (templates.py).
FIELDS: dict[str, dict[str, Any]] = {
    "title": {"css": "h1.title", "type": "text", "required": True},
    "price": {"css": ".price", "type": "money", "required": True},
    "isbn": {"css": "td.isbn", "type": "text", "required": True},
    "availability": {"css": ".availability", "type": "text"},
    "authors": {"css": ".authors .author", "type": "list"},
    "rating": {"css": ".rating", "attribute": "data-rating", "type": "number"},
    "format": {"css": "td.format", "type": "text"},
    "language": {"css": "td.language", "type": "text"},
    "pages": {"css": "td.pages", "type": "number"},
    "published": {"css": "td.published time", "attribute": "datetime", "type": "date"},
    "category": {"css": "td.category a", "type": "text"},
}


def site_yaml(
    domains: str | Sequence[str],
    *,
    name: str = "practice",
    changes: dict[str, Any] | None = None,
) -> str:
    """The site file for `domains` (`host:port`), as text; `changes` replaces or adds top-level keys."""
    text: str = yaml.safe_dump(
        site_document(domains, name=name) | (changes or {}), sort_keys=False, allow_unicode=True
    )
    return text


def site_document(domains: str | Sequence[str], *, name: str = "practice") -> dict[str, Any]:
    """The same as data."""
    hosts = [domains] if isinstance(domains, str) else list(domains)
    fronts = [f"http://{host}/" for host in hosts]
    return {
        "name": name,
        "domains": hosts,
        "seeds": fronts,
        "sitemaps": "auto",
        "scope": {"include": ["/*"], "exclude": []},
        "identity": {
            "user_agent": "nightcrawl-practice/1.0 (+http://practice.example/bot)",
            "contact": "crawl@practice.example",
        },
        "items": {ITEM_TYPE: {"match": "/book/*", "key": ["isbn"], "fields": FIELDS}},
        "canaries": [
            {"url": front, "status": 200, "contains": "Nightjar Books", "min_bytes": 500} for front in fronts
        ],
        "allow_private_addresses": ["127.0.0.0/8"],
    }
