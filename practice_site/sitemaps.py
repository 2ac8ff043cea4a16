"""The shop's sitemaps: an index of gzipped parts, one plain file, or broken ones."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from datetime import datetime
from html import escape

from practice_site.resource import Resource

__all__ = ["SitemapEntry", "sitemap_resource"]

SitemapEntry = tuple[str, datetime]
"""Absolute URL and lastmod."""

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def sitemap_resource(
    path: str, entries: Sequence[SitemapEntry], *, origin: str, mode: str, size: int, compressed: bool
) -> Resource | None:
    """The sitemap at `path`, or None if there is none. `mode` is index, plain or broken; `size` URLs a part."""
    parts = [entries[start : start + size] for start in range(0, len(entries), size)]
    ending = ".xml.gz" if compressed else ".xml"
    newest = max(lastmod for _, lastmod in entries)
    if path == "/sitemap.xml":
        if mode == "plain":
            return _xml(_urlset(entries), newest)
        rows = [
            (f"{origin}/sitemaps/part-{n + 1}{ending}", max(m for _, m in p)) for n, p in enumerate(parts)
        ]
        return _xml(_document("sitemapindex", "sitemap", rows), newest)
    name = path.removeprefix("/sitemaps/part-")
    if mode == "plain" or name == path or not name.endswith(ending):
        return None
    number = name.removesuffix(ending)
    if not number.isdigit() or not 1 <= int(number) <= len(parts):
        return None
    part = parts[int(number) - 1]
    text = _urlset(part)
    if mode == "broken":
        # Ends inside the last <loc>: whole entries before it are still good.
        text = text[: text.rindex("<loc>") + 12]
    lastmod = max(moment for _, moment in part)
    if not compressed:
        return _xml(text, lastmod)
    packed = gzip.compress(text.encode(), 6, mtime=0)
    return Resource("sitemap", packed, "application/gzip", last_modified=lastmod, compressible=False)


def _urlset(entries: Sequence[SitemapEntry]) -> str:
    return _document("urlset", "url", entries)


def _document(root: str, element: str, rows: Sequence[SitemapEntry]) -> str:
    body = "".join(
        f"<{element}><loc>{escape(url)}</loc><lastmod>{moment:%Y-%m-%dT%H:%M:%S}+00:00</lastmod></{element}>\n"
        for url, moment in rows
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{NAMESPACE}">\n{body}</{root}>\n'


def _xml(text: str, lastmod: datetime) -> Resource:
    return Resource("sitemap", text.encode(), "application/xml", last_modified=lastmod)
