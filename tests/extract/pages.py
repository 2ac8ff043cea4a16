"""Pages to extract from, without a store."""

from __future__ import annotations

from typing import Any

from xxhash import xxh3_128_digest

from resources.crawler.territory import Territory
from resources.extract.page import ExtractedPage, PageExtractor
from resources.pages.base import Kind, PageHead
from resources.site.catalog import Catalog
from resources.site.model import Site
from resources.web.urls import key

__all__ = ["extract", "head_of", "site_of"]


def site_of(**fields: Any) -> Site:
    return Site.model_validate({"name": "shop", "domains": ["shop.example"], **fields})


def head_of(url: str, body: bytes, **fields: Any) -> PageHead:
    values: dict[str, Any] = {
        "key": key(url), "url": url, "domain": url.split("/")[2], "kind": Kind.PAGE, "status": 200,
        "headers": (("Content-Type", "text/html; charset=utf-8"),), "content_hash": xxh3_128_digest(body),
        "body_bytes": len(body), "fetched_at": 1_000.0, "validated_at": 1_000.0, "first_seen_at": 900.0,
        "changed_at": 950.0, "final_url": url, "run_id": "fetch-1",
    }  # fmt: skip
    return PageHead(**{**values, **fields})


def extract(
    html: str | bytes, *sites: Site, url: str = "https://shop.example/p/1", **head_fields: Any
) -> ExtractedPage:
    """All rows of one page of the first site."""
    body = html.encode() if isinstance(html, str) else html
    territory = Territory(Catalog(sites or (site_of(),)))
    head = head_of(url, body, **head_fields)
    rules = territory.rules(head.domain)
    assert rules is not None
    return PageExtractor(rules, territory).extract(head, body)
