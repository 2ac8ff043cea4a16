"""The row of a page in the `pages` table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from resources.pages.base import PageHead
from resources.web.page_elements import PageElements
from resources.web.page_title import title_text
from resources.web.structured_data import StructuredData, lookup
from resources.web.urls import joiner, url_without_credentials

from .text_length import text_length
from .version import PARSER_VERSION

__all__ = ["PageRow", "header", "page_row"]

#: A title or description beyond this is a mistake of the page; the rest of it helps nobody.
MAX_TEXT = 10_000
_DESCRIPTIONS = ("meta:description", "og:description", "twitter:description", "dc:description")


@dataclass(slots=True)
class PageRow:
    """Columns of `pages`, in their order. Times are epoch seconds, the hash is hexadecimal."""

    url: str
    final_url: str
    domain: str
    depth: int
    status: int
    content_type: str | None
    encoding: str | None
    title: str | None
    description: str | None
    language: str | None
    canonical_url: str | None
    text_length: int | None
    content_hash: str
    body_bytes: int
    fetched_at: float
    first_seen_at: float
    changed_at: float
    run_id: str
    parser_version: str


def header(head: PageHead, name: str) -> str | None:
    """The first response header of that (lower-case) name."""
    for key, value in head.headers:
        if key.lower() == name:
            return value
    return None


def page_row(
    head: PageHead,
    tree: LexborHTMLParser | None = None,
    data: StructuredData | None = None,
    encoding: str | None = None,
    base: str = "",
    elements: PageElements | None = None,
) -> PageRow:
    """The row; what only HTML has is None where there is no tree.

    With a tree: `base` is the document base, `elements` are the tree's.
    """
    title = description = language = canonical = None
    length: int | None = None
    if tree is not None and data is not None and elements is not None:
        title = _title(tree, elements.title)[:MAX_TEXT] or None
        description = next(
            (found[0][:MAX_TEXT] for path in _DESCRIPTIONS if (found := lookup(data, path))), None
        )
        root = tree.root
        language = ((root.attrs.get("lang") or "").strip()[:100] or None) if root is not None else None
        canonical = _canonical(elements.canonicals, base)
        length = text_length(tree, elements.unseen)
    return PageRow(
        url=head.url, final_url=head.final_url or head.url, domain=head.domain, depth=head.depth,
        status=head.status, content_type=header(head, "content-type"), encoding=encoding or head.encoding or None,
        title=title, description=description, language=language, canonical_url=canonical, text_length=length,
        content_hash=head.content_hash.hex(), body_bytes=head.body_bytes, fetched_at=head.fetched_at,
        first_seen_at=head.first_seen_at, changed_at=head.changed_at, run_id=head.run_id,
        parser_version=PARSER_VERSION,
    )  # fmt: skip


def _title(tree: LexborHTMLParser, in_head: LexborNode | None) -> str:
    """The first title element; where the head has one, without walking the whole tree."""
    return " ".join(in_head.text().split()) if in_head is not None else title_text(tree)


def _canonical(nodes: Sequence[LexborNode], base: str) -> str | None:
    """The page's own address for itself: one `rel=canonical` in its head; None if there are several that differ."""
    if not nodes:
        return None
    resolve = joiner(base)
    found = {url for node in nodes if (url := resolve(node.attrs.get("href") or "")) is not None}
    return url_without_credentials(found.pop()) if len(found) == 1 else None
