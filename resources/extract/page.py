"""One stored page to all its rows. Pure: a head and a body in, rows out; the same in, the same out."""

from __future__ import annotations

from dataclasses import dataclass, field

from resources.crawler.territory import DomainRules, Territory
from resources.pages.base import PageHead
from resources.web.encoding import to_utf8
from resources.web.html_document import parse_html
from resources.web.html_type import is_html
from resources.web.links import base_in
from resources.web.page_elements import read_elements
from resources.web.structured_data import extract as extract_structured
from resources.web.urls import domain_of, joiner

from .items import ItemExtractor, ItemRow, RejectedRow
from .link_rows import LinkReader, LinkRow
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
    """The extraction of one domain, compiled from its site file. Keeps a memory of how addresses resolve."""

    def __init__(self, rules: DomainRules, territory: Territory) -> None:
        self._rules = rules
        self._territory = territory
        self._items = ItemExtractor(rules.site.items)
        self._links = LinkReader(rules.policy, self._in_scope, frames=rules.site.scope.iframes)

    def _in_scope(self, url: str) -> bool:
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
            return ExtractedPage(page_row(head))
        utf8, decision = to_utf8(body, content_type)
        tree = parse_html(utf8)
        url = head.final_url or head.url
        elements = read_elements(tree)
        base = base_in(elements.bases, url)
        data = extract_structured(tree, url, elements.data, utf8)
        result = ExtractedPage(page_row(head, tree, data, decision.encoding, base, elements))
        result.links = self._links.read(tree, elements.anchors, head.url, base, decision.encoding)
        if site.structured_data and data:
            result.structured = structured_rows(data)
        if self._items:
            result.items, result.rejects = self._items.extract(tree, url, data, joiner(base))
        return result
