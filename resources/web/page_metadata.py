"""What a page says about itself: title, author, site, date, language, description, canonical address.

Sources in order of trust: schema.org JSON-LD of an article, then meta elements (Dublin Core, Open Graph,
Parsely, Twitter, plain), then the document (title element, headings, byline markup). Values are as the page
spells them, blanks folded; dates are not interpreted.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .links import canonical_link
from .page_title import document_title

__all__ = ["PageMetadata", "page_metadata"]


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """All optional but the title, which may be empty. `direction` is ``ltr``, ``rtl`` or ``auto``."""

    title: str
    description: str | None
    language: str | None
    direction: str | None
    canonical: str | None
    byline: str | None
    site_name: str | None
    published_time: str | None


_PROPERTY = re.compile(
    r"(article|dc|dcterm|og|twitter)\s*:\s*(author|creator|description|published_time|title|site_name)", re.I
)
_NAME = re.compile(
    r"(?:(?:dc|dcterm|og|twitter|parsely|weibo:(?:article|webpage))\s*[-.:]\s*)?"
    r"(?:author|creator|pub-date|description|title|site_name)",
    re.I,
)
_TITLES = (
    *("dc:title", "dcterm:title", "og:title", "weibo:article:title", "weibo:webpage:title"),
    *("title", "twitter:title", "parsely-title"),
)
_BYLINES = ("dc:creator", "dcterm:creator", "author", "parsely-author")
_DESCRIPTIONS = (
    *("dc:description", "dcterm:description", "og:description", "weibo:article:description"),
    *("weibo:webpage:description", "description", "twitter:description"),
)
_DATES = ("article:published_time", "parsely-pub-date")

_SCHEMA = re.compile(r"https?://schema\.org/?")
_ARTICLE_TYPE = re.compile(
    "(?:AdvertiserContent|Analysis|AskPublic|Background|Opinion|Report|Review|News|Satirical|Scholarly|"
    "MedicalScholarly|SocialMedia|Tech|API)?(?:Article|NewsArticle|Reference)|ReportageNewsArticle|"
    "ReviewNewsArticle|BackgroundNewsArticle|AnalysisNewsArticle|AskPublicNewsArticle|OpinionNewsArticle|"
    "Report|SocialMediaPosting|BlogPosting|LiveBlogPosting|DiscussionForumPosting"
)
_BYLINE_MARKUP = re.compile(r"byline|author|dateline|writtenby|p-author", re.I)
#: Names of elements around the article rather than in it, and names that outweigh them.
_UNLIKELY = re.compile(
    r"banner|breadcrumb|combx|comment|community|disqus|extra|footer|gdpr|header|menu|related|remark|replies|"
    r"rss|shoutbox|sidebar|skyscraper|social|sponsor|supplemental|pagination|pager|popup",
    re.I,
)
_LIKELY = re.compile(r"article|body|column|content|main|shadow", re.I)
#: A longer "byline" is a paragraph about the author.
_LONGEST_BYLINE = 100
#: JSON-LD beyond this is a catalogue, not a description of the page.
_LONGEST_JSON = 1_000_000


def page_metadata(tree: LexborHTMLParser, page_url: str, encoding: str = "utf-8") -> PageMetadata:
    """Reads the tree of the page at `page_url`. Never raises; the tree is left as it is.

    Texts of the page are in `page_text`.
    """
    metas = _metas(tree)
    article = _article(tree)
    title = _text(_article_title(article, tree)) or _first(metas, _TITLES) or document_title(tree)
    author = metas.get("article:author")
    byline = (
        _people(article.get("author"))
        or _first(metas, _BYLINES)
        or (author if author and "://" not in author else None)
        or _byline_of_document(tree)
    )
    publisher = article.get("publisher")
    root = tree.css_first("html")
    return PageMetadata(
        title=_fold(title),
        description=_folded(_text(article.get("description")) or _first(metas, _DESCRIPTIONS)),
        language=(root.attrs.get("lang") or None) if root is not None else None,
        direction=_direction(tree),
        canonical=canonical_link(tree, page_url, encoding),
        byline=_folded(byline),
        site_name=_folded(
            (_text(publisher.get("name")) if isinstance(publisher, dict) else None)
            or metas.get("og:site_name")
        ),
        published_time=_text(article.get("datePublished")) or _first(metas, _DATES),
    )


def _fold(text: str) -> str:
    return " ".join(html.unescape(text).split())


def _folded(text: str | None) -> str | None:
    return (_fold(text) or None) if text else None


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _first(metas: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((metas[name] for name in names if metas.get(name)), None)


def _metas(tree: LexborHTMLParser) -> dict[str, str]:
    """Known meta elements by name; a `property` may hold several names; the last of equal names wins."""
    found: dict[str, str] = {}
    for meta in tree.css("meta[content]"):
        get = meta.attrs.get
        content = (get("content") or "").strip()
        if not content:
            continue
        properties = [f"{a}:{b}".lower() for a, b in _PROPERTY.findall(get("property") or "")]
        if properties:
            found.update(dict.fromkeys(properties, content))
        elif _NAME.fullmatch(name := (get("name") or "").strip()):
            found[re.sub(r"\s", "", name.lower()).replace(".", ":")] = content
    return found


def _article(tree: LexborHTMLParser) -> dict[str, Any]:
    """The first schema.org article in the page's JSON-LD, or an empty one."""
    for script in tree.css('script[type="application/ld+json"]'):
        text = script.text().strip().removeprefix("<![CDATA[").removesuffix("]]>")
        if len(text) > _LONGEST_JSON:
            continue
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for item in _items(data):
            if _is_article(item):
                return item
    return {}


def _items(data: Any) -> Iterator[dict[str, Any]]:
    for item in data if isinstance(data, list) else [data]:
        if not isinstance(item, dict) or not _is_schema(item.get("@context")):
            continue
        graph = item.get("@graph")
        if "@type" not in item and isinstance(graph, list):
            yield from (node for node in graph if isinstance(node, dict))
        else:
            yield item


def _is_schema(context: Any) -> bool:
    if isinstance(context, dict):
        context = context.get("@vocab")
    return isinstance(context, str) and _SCHEMA.fullmatch(context) is not None


def _is_article(item: dict[str, Any]) -> bool:
    kinds = item.get("@type")
    return any(
        isinstance(kind, str) and _ARTICLE_TYPE.fullmatch(kind)
        for kind in (kinds if isinstance(kinds, list) else [kinds])
    )


def _article_title(article: dict[str, Any], tree: LexborHTMLParser) -> str | None:
    """Its name, unless only the headline resembles the title of the document: some sites put their own name there."""
    name, headline = _text(article.get("name")), _text(article.get("headline"))
    if name and headline and name != headline:
        title = document_title(tree)
        return headline if _similar(headline, title) and not _similar(name, title) else name
    return name or headline


def _similar(a: str, b: str) -> bool:
    """Whether at most a quarter of the second text is words that the first lacks."""
    words = set(re.findall(r"\w+", a.lower()))
    others = re.findall(r"\w+", b.lower())
    if not words or not others:
        return False
    new = " ".join(word for word in others if word not in words)
    return 1 - len(new) / len(" ".join(others)) > 0.75


def _people(author: Any) -> str | None:
    if isinstance(author, dict):
        return _text(author.get("name"))
    if isinstance(author, list) and author and isinstance(author[0], dict) and _text(author[0].get("name")):
        names = [_text(person.get("name")) for person in author if isinstance(person, dict)]
        return ", ".join(name for name in names if name)
    return None


def _byline_of_document(tree: LexborHTMLParser) -> str | None:
    """The first element marked as a byline whose text is short enough to be one; its name part if it has one."""
    body = tree.body
    if body is None:
        return None
    for node in body.css(
        "[rel=author],[itemprop*=author],[class*=byline i],[class*=author i],[class*=dateline i],"
        "[class*=writtenby i],[id*=byline i],[id*=author i],[id*=dateline i],[id*=writtenby i]"
    ):
        text = node.text().strip()
        if not 0 < len(text) < _LONGEST_BYLINE or not _is_shown(node):
            continue
        name = node.css_first("[itemprop*=name]")
        return name.text().strip() if name is not None and name.text().strip() else text
    return None


def _is_unlikely(node: LexborNode) -> bool:
    names = f"{node.attrs.get('class') or ''} {node.attrs.get('id') or ''}"
    return (
        len(names) < 300
        and _UNLIKELY.search(names) is not None
        and _LIKELY.search(names) is None
        and node.tag not in ("table", "code")
    )


def _is_shown(node: LexborNode) -> bool:
    """Whether the element is neither hidden nor part of a margin, a menu or a list of other articles."""
    element: LexborNode | None = node
    while element is not None and element.tag not in ("body", "html"):
        attrs = element.attrs
        style = (attrs.get("style") or "").replace(" ", "").lower()
        if "hidden" in attrs or "display:none" in style or "visibility:hidden" in style:
            return False
        if element is not node and _is_unlikely(element):
            return False
        element = element.parent
    return True


def _direction(tree: LexborHTMLParser) -> str | None:
    """The `dir` of the document: of the root, the body, or the first article in it."""
    for selector in ("html[dir]", "body[dir]", "article[dir],main[dir],[role=main][dir]"):
        node = tree.css_first(selector)
        if node is not None and node.attrs.get("dir"):
            return (node.attrs.get("dir") or "").strip().lower()
    return None
