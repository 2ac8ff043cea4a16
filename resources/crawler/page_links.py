"""Reads what the crawl itself needs from a page: its encoding, its tree, its links, whether to follow them.

Everything else (titles, items, anchors) is read by the parse stage from the stored body.
"""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from resources.fetcher.base import FetchResult
from resources.web.encoding import to_utf8
from resources.web.html_document import parse_html
from resources.web.outlinks import LinkMemo, read_outlinks
from resources.web.robots_meta import robots_directives

from .territory import DomainRules

__all__ = ["PageReader", "ReadPage", "is_html"]

#: Bodies larger than this are stored but their links are not followed at crawl time: a parser may need
#: seconds for them and holds the event loop meanwhile.
MAX_PARSE = 10_000_000
_HTML_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml")


@dataclass(slots=True)
class ReadPage:
    """`tree` is None for what is no HTML; `links` are canonical, distinct and without the page itself."""

    utf8: bytes
    encoding: str
    encoding_source: str
    tree: LexborHTMLParser | None
    links: list[str]
    follow: bool


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


class PageReader:
    """Parses bodies with Lexbor. Remembers nothing but how addresses resolve."""

    def __init__(self) -> None:
        self._memo = LinkMemo()

    def read(self, result: FetchResult, rules: DomainRules) -> ReadPage:
        content_type = result.header("content-type")
        if not is_html(content_type, result.body):
            return ReadPage(result.body, "", "", None, [], False)
        utf8, decision = to_utf8(result.body, content_type)
        if len(utf8) > MAX_PARSE:
            return ReadPage(utf8, decision.encoding, decision.source, None, [], False)
        tree = parse_html(utf8)
        obey = rules.site.scope.nofollow == "obey"
        robots_tags = [v for k, v in result.headers if k.lower() == "x-robots-tag"]
        found = read_outlinks(
            tree, result.url, decision.encoding, rules.policy, memo=self._memo, domain=rules.domain
        )
        follow = not obey or robots_directives(found.metas, robots_tags, rules.token).follow
        links = [url for url, nofollow in found.links if not (nofollow and obey)] if follow else []
        return ReadPage(utf8, decision.encoding, decision.source, tree, links, follow)
