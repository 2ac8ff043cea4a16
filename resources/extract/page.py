"""One stored page to all its rows. Pure: a head and a body in, rows out; the same in, the same out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser

from resources.crawler.page_links import is_html
from resources.crawler.territory import DomainRules, Territory
from resources.pages.base import PageHead
from resources.web.encoding import to_utf8
from resources.web.html_document import parse_html
from resources.web.links import document_base
from resources.web.structured_data import StructuredData
from resources.web.structured_data import extract as extract_structured
from resources.web.urls import domain_of, joiner

from .items import ItemExtractor, ItemRow, RejectedRow
from .link_rows import LinkRow, link_rows
from .page_row import PageRow, header, page_row
from .structured_rows import StructuredRow, structured_rows

__all__ = ["ExtractedPage", "PageExtractor"]

#: Larger bodies make a row of `pages` but are not parsed: the same bound as in the crawl.
MAX_PARSE = 10_000_000


@dataclass(slots=True)
class ExtractedPage:
    """All rows of one page."""

    page: PageRow
    links: list[LinkRow] = field(default_factory=list)
    items: list[ItemRow] = field(default_factory=list)
    rejects: list[RejectedRow] = field(default_factory=list)
    structured: list[StructuredRow] = field(default_factory=list)


class PageExtractor:
    """The extraction of one domain, compiled from its site file. Keeps a memory of recent scope decisions."""

    def __init__(self, rules: DomainRules, territory: Territory) -> None:
        self._rules = rules
        self._territory = territory
        self._items = ItemExtractor(rules.site.items)
        # Navigation repeats its targets on every page of a site.
        self._in_scope = lru_cache(maxsize=50_000)(self._scope)

    def _scope(self, url: str) -> bool:
        """Whether the crawl may follow a link to `url`: some site covers its domain and its scope includes it."""
        start = url.index("//") + 2
        domain = url[start : url.find("/", start)]
        rules = (
            self._rules if domain == self._rules.domain else self._territory.rules(domain_of(url) or domain)
        )
        return rules is not None and rules.exclusion(url, 0) is None

    def extract(self, head: PageHead, body: bytes) -> ExtractedPage:
        """Rows of the page `head` with the decoded body `body`."""
        site = self._rules.site
        content_type = header(head, "content-type")
        if len(body) > MAX_PARSE or not is_html(content_type, body):
            return ExtractedPage(page_row(head, None, StructuredData(), None))
        utf8, decision = to_utf8(body, content_type)
        tree = parse_html(utf8)
        url = head.final_url or head.url
        data = extract_structured(tree, url)
        result = ExtractedPage(page_row(head, tree, data, decision.encoding))
        result.links = link_rows(
            tree, url, decision.encoding, self._rules.policy, self._in_scope, frames=site.scope.iframes
        )
        if site.structured_data and data:
            result.structured = structured_rows(data)
        if self._items:
            result.items, result.rejects = self._read_items(tree, url, data)
        return result

    def _read_items(
        self, tree: LexborHTMLParser, url: str, data: StructuredData
    ) -> tuple[list[ItemRow], list[RejectedRow]]:
        return self._items.extract(tree, url, data, joiner(document_base(tree, url)))
