"""Whether a body is HTML. A module of its own: the parse step asks that and needs nothing else of the crawl."""

from __future__ import annotations

__all__ = ["is_html"]

_HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml")


def is_html(content_type: str | None, body: bytes) -> bool:
    """Whether a body is to be parsed as HTML: by its type, or by its start where the type is missing or vague.

    Numbered cases: 1. an HTML or XHTML type; 2. XML: only with an html root; 3. no type, text/plain or
    octet-stream: if it begins like HTML (WHATWG MIME sniffing §7.1, the tags that matter); 4. anything else: no.
    """
    media = (content_type or "").partition(";")[0].strip().lower()
    if media in ("text/html", "application/xhtml+xml"):
        return True
    start = body[:512].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x0c").lower()
    if media in _HTML_TYPES:
        return b"<html" in start
    if media in ("", "text/plain", "application/octet-stream", "unknown/unknown"):
        return start.startswith(
            (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<script", b"<!--")
        )
    return False
