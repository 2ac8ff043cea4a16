"""What a page says of itself in short: title, description, language, author, dates.

Each field is looked for where it is most deliberate first; the order is in the code, one line a source.
"""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from .extract import StructuredData
from .lookup import lookup
from .opengraph import first

__all__ = ["Summary", "summarize"]

#: Types of schema.org that stand for the page itself or what it is about, whose dates are the page's.
_WORKS = ("Article", "NewsArticle", "BlogPosting", "Report", "WebPage", "*")


@dataclass(frozen=True, slots=True)
class Summary:
    """Texts with blanks folded, None where the page does not say; dates as written."""

    title: str | None = None
    og_title: str | None = None
    description: str | None = None
    lang: str | None = None
    author: str | None = None
    published: str | None = None
    modified: str | None = None


def summarize(tree: LexborHTMLParser, data: StructuredData) -> Summary:
    """The summary of a page whose structured data was extracted."""
    return Summary(
        title=_title(tree, data),
        og_title=_fold(first(data.opengraph, "og:title")),
        description=_first(
            data, "meta:description", "og:description", "twitter:description", "dc:description"
        ),
        lang=_language(tree, data),
        author=_first(data, "meta:author", "jsonld:*.author.name", "jsonld:*.author", "dc:creator")
        or _first(data, "article:author", "microdata:*.author.name", "microdata:*.author"),
        published=_date(data, "datePublished", "article:published_time", "dcterms:issued", "dcterms:created")
        or _first(data, "dc:date", "meta:date", "meta:pubdate", "meta:publish-date")
        or _time(tree),
        modified=_date(data, "dateModified", "article:modified_time", "og:updated_time", "dcterms:modified"),
    )


def _title(tree: LexborHTMLParser, data: StructuredData) -> str | None:
    """1. The first title element outside of SVG.  2. og:title.  3. The first h1."""
    for element in tree.css("title"):
        parent = element.parent
        while parent is not None and parent.tag not in ("svg", "math"):
            parent = parent.parent
        if parent is None:
            title = _fold(element.text(deep=True))
            if title:
                return title
            break
    heading = tree.css_first("h1")
    return _first(data, "og:title", "twitter:title", "dc:title") or (
        _fold(heading.text(deep=True)) if heading is not None else None
    )


def _language(tree: LexborHTMLParser, data: StructuredData) -> str | None:
    root = tree.css_first("html")
    if root is not None:
        for name in ("lang", "xml:lang"):
            given = (root.attrs.get(name) or "").strip()
            if given:
                return given
    for element in tree.css("meta[http-equiv]"):
        if (element.attrs.get("http-equiv") or "").strip().lower() == "content-language":
            given = (element.attrs.get("content") or "").partition(",")[0].strip()
            if given:
                return given
    return _first(data, "meta:language", "og:locale", "dc:language")


def _date(data: StructuredData, name: str, *others: str) -> str | None:
    paths = [f"{source}:{kind}.{name}" for source in ("jsonld", "microdata") for kind in _WORKS]
    return _first(data, *paths, *others)


def _time(tree: LexborHTMLParser) -> str | None:
    """A `time` that is marked as the date of publication, or the only one in the article's header."""
    for selector in ("time[pubdate][datetime]", "article header time[datetime]"):
        element = tree.css_first(selector)
        if element is not None:
            return _fold(element.attrs.get("datetime"))
    return None


def _first(data: StructuredData, *paths: str) -> str | None:
    for path in paths:
        for value in lookup(data, path):
            # An object where a text was expected says nothing that a reader could use.
            if not value.startswith(("{", "[")):
                return value
    return None


def _fold(text: str | None) -> str | None:
    return " ".join(text.split()) or None if text else None
