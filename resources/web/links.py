"""The links of an HTML page, read from its tree by the rules of the HTML standard.

`outlinks.read_outlinks` is the crawl's hot path: where to go next and nothing else. `extract` is everything the
parse stage wants to know: anchors, relations, images, frames, refreshes. Both agree on what a link is: the
`href` of an `a` or `area` element (also of an svg `a`), resolved with the document base, its query in the encoding of the
page. Markup in comments, scripts, styles, templates and text areas is not in the tree as elements; what stands
in `noscript` is, since this parser runs no scripts. An address that does not parse is left out, the page is not.

Bounds: at most `MAX_LINKS` distinct links a page; addresses beyond `MAX_URL_LENGTH` are left out. Pages must
be parsed with `html_document.parse_html`, which bounds the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .meta_refresh import MetaRefresh, read_refresh
from .robots_meta import robots_directives, robots_metas
from .srcset import srcset_urls
from .urls import MAX_URL_LENGTH, in_document_encoding, join, joiner

__all__ = ["MAX_LINKS", "Link", "PageLinks", "base_in", "canonical_link", "document_base", "extract"]

#: Distinct links of one page. The largest honest index pages have some 20,000; a page that has more is a
#: trap or a test, and its rest is found by other ways or not at all.
MAX_LINKS = 50_000

_LINK_ELEMENTS = "a[href],area[href]"
_FEED_TYPES = frozenset(("application/rss+xml", "application/atom+xml", "application/feed+json"))


@dataclass(frozen=True, slots=True)
class Link:
    """One distinct target: `url` absolute without fragment, `text` of its first anchor with blanks folded.

    `rel` are the sorted lower-case tokens of all its anchors; `nofollow` only if each of them says so, or the
    page does. `element` is ``a``, ``area``, ``frame`` or ``iframe``; `alt` of an image anchor without text.
    """

    url: str
    text: str
    rel: tuple[str, ...]
    nofollow: bool
    element: str
    alt: str = ""


@dataclass(slots=True)
class PageLinks:
    """All that a page points to; URLs absolute, lists in document order and distinct.

    `canonical` is None when there is none in the head or when several disagree (`canonicals` has them all).
    `self_links` counts anchors that lead to the page itself. `truncated`: there were more than `MAX_LINKS`.
    """

    base_url: str
    links: list[Link] = field(default_factory=list)
    canonical: str | None = None
    canonicals: list[str] = field(default_factory=list)
    next: str | None = None
    prev: str | None = None
    hreflang: dict[str, str] = field(default_factory=dict)
    feeds: list[str] = field(default_factory=list)
    mobile: str | None = None
    amphtml: str | None = None
    images: list[str] = field(default_factory=list)
    media: list[str] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)
    meta_refresh: MetaRefresh | None = None
    page_nofollow: bool = False
    self_links: int = 0
    truncated: bool = False


def document_base(tree: LexborHTMLParser, page_url: str) -> str:
    """What relative links resolve against: the first `base` that has an `href` and may be one (HTML 2.4.3).

    A base inside `noscript` is no base to a browser that runs scripts, and must not move every link of a page.
    """
    return base_in(tree.css("base[href]"), page_url)


def base_in(bases: Iterable[LexborNode], page_url: str) -> str:
    """`document_base`, given the page's `base` elements that have an `href`."""
    for node in bases:
        if not _inside(node, "noscript"):
            return join(page_url, node.attrs.get("href") or "") or page_url
    return page_url


def _inside(node: LexborNode, tag: str) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag == tag:
            return True
        parent = parent.parent
    return False


def _href(node: LexborNode) -> str:
    """The address of a link element. An `href` without a value is the empty address: the page itself."""
    get = node.attrs.get
    return get("href") or get("xlink:href") or ""


class _Resolver:
    """Addresses of one page made absolute."""

    def __init__(self, base: str, encoding: str) -> None:
        self._resolve = joiner(base)
        self._encoding = encoding

    def __call__(self, ref: str | None) -> str | None:
        if ref is None or len(ref) > MAX_URL_LENGTH:
            return None
        url = self._resolve(in_document_encoding(ref, self._encoding))
        return url if url is not None and len(url) <= MAX_URL_LENGTH else None

    def page(self, ref: str | None) -> str | None:
        """As a document address: without its fragment."""
        url = self(ref)
        return url.partition("#")[0] if url is not None else None


def extract(
    tree: LexborHTMLParser,
    page_url: str,
    encoding: str = "utf-8",
    *,
    frames: bool = False,
    bot: str = "",
    refresh_header: str | None = None,
) -> PageLinks:
    """Every link and relation of the page at `page_url`. Never raises on any tree.

    `frames`: count frame and iframe documents as links too. `bot` and the page's robots metas decide
    `page_nofollow`; `refresh_header` is the Refresh field of the response, used where the page has none.
    """
    base = document_base(tree, page_url)
    resolve = _Resolver(base, encoding)
    result = PageLinks(base)
    result.page_nofollow = not robots_directives(robots_metas(tree), (), bot).follow
    _read_link_elements(tree, resolve, result)
    _read_images(tree, resolve, result)
    framed = tree.css("iframe[src],frame[src]")
    result.frames = _distinct(resolve.page(node.attrs.get("src")) for node in framed)
    result.media = _distinct(
        resolve(node.attrs.get("src"))
        for node in tree.css("video[src],audio[src],video > source[src],audio > source[src]")
    )
    result.meta_refresh = _refresh(tree, base, page_url, encoding, refresh_header)
    _read_anchors(tree, resolve, page_url, result, framed if frames else [])
    return result


def canonical_link(tree: LexborHTMLParser, page_url: str, encoding: str = "utf-8") -> str | None:
    """`PageLinks.canonical` alone, without reading the rest of the page."""
    result = PageLinks(document_base(tree, page_url))
    _read_link_elements(tree, _Resolver(result.base_url, encoding), result)
    return result.canonical


def _read_anchors(
    tree: LexborHTMLParser,
    resolve: _Resolver,
    page_url: str,
    result: PageLinks,
    framed: list[LexborNode],
) -> None:
    own = (join(page_url, "") or page_url).partition("#")[0]
    first: dict[str, tuple[LexborNode, str]] = {}
    rels: dict[str, set[str]] = {}
    follow: set[str] = set()
    for node in tree.css(_LINK_ELEMENTS):
        url = resolve.page(_href(node))
        if url is None:
            continue
        if url == own:
            result.self_links += 1
            continue
        if url not in first:
            if len(first) >= MAX_LINKS:
                result.truncated = True
                continue
            first[url] = (node, node.tag or "a")
            rels[url] = set()
        tokens = (node.attrs.get("rel") or "").lower().split()
        rels[url].update(tokens)
        if "nofollow" not in tokens:
            follow.add(url)
        if "next" in tokens and result.next is None:
            result.next = url
        if ("prev" in tokens or "previous" in tokens) and result.prev is None:
            result.prev = url
    for node in framed:
        url = resolve.page(node.attrs.get("src"))
        if url is not None and url != own and url not in first and len(first) < MAX_LINKS:
            first[url] = (node, node.tag or "iframe")
            rels[url] = set()
            follow.add(url)
    for url, (node, element) in first.items():
        text = "" if element in ("frame", "iframe") else " ".join(node.text().split())
        result.links.append(
            Link(
                url,
                text,
                tuple(sorted(rels[url])),
                result.page_nofollow or url not in follow,
                element,
                "" if text else _alternative(node, element),
            )
        )


def _alternative(node: LexborNode, element: str) -> str:
    image = node if element == "area" else node.css_first("img[alt]")
    return " ".join((image.attrs.get("alt") or "").split()) if image is not None else ""


def _read_link_elements(tree: LexborHTMLParser, resolve: _Resolver, result: PageLinks) -> None:
    """`link` elements. Only the head may name a canonical URL: in a body a visitor may have put it there."""
    for node in tree.css("link[rel][href]"):
        get = node.attrs.get
        rels = (get("rel") or "").lower().split()
        url = resolve(get("href") or "")
        if url is None:
            continue
        if "canonical" in rels and _inside(node, "head") and url not in result.canonicals:
            result.canonicals.append(url)
        if "next" in rels and result.next is None:
            result.next = url
        if ("prev" in rels or "previous" in rels) and result.prev is None:
            result.prev = url
        if "amphtml" in rels and result.amphtml is None:
            result.amphtml = url
        if "alternate" in rels and "stylesheet" not in rels:
            _read_alternate(get, url, result)
    if len(result.canonicals) == 1:
        result.canonical = result.canonicals[0]


def _read_alternate(get: Callable[[str], str | None], url: str, result: PageLinks) -> None:
    """Another form of the page. Numbered cases: 1. a feed, by type; 2. a language; 3. a screen size, by media."""
    kind = (get("type") or "").partition(";")[0].strip().lower()
    language = (get("hreflang") or "").strip()
    if kind in _FEED_TYPES:
        if url not in result.feeds:
            result.feeds.append(url)
    elif language:
        result.hreflang.setdefault(language, url)
    elif "max-width" in (get("media") or "").lower() and result.mobile is None:
        result.mobile = url


def _read_images(tree: LexborHTMLParser, resolve: _Resolver, result: PageLinks) -> None:
    found: list[str | None] = []
    for node in tree.css("img,picture > source[srcset],video[poster],input[type=image]"):
        get = node.attrs.get
        tag = node.tag
        if tag == "video":
            found.append(resolve(get("poster")))
            continue
        if tag != "source":
            found.append(resolve(get("src") or None))
        found.extend(resolve(url) for url in srcset_urls(get("srcset") or ""))
    result.images = _distinct(found)


def _distinct(urls: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(url for url in urls if url is not None))[:MAX_LINKS]


def _refresh(
    tree: LexborHTMLParser, base: str, page_url: str, encoding: str, header: str | None
) -> MetaRefresh | None:
    """The refresh that fires first. Those in `noscript` are for browsers without scripts and lead astray."""
    found = [
        refresh
        for node in tree.css("meta[http-equiv][content]")
        if (node.attrs.get("http-equiv") or "").strip().lower() == "refresh" and not _inside(node, "noscript")
        if (refresh := read_refresh(node.attrs.get("content") or "", base, page_url, encoding)) is not None
    ]
    if not found and header:
        from_header = read_refresh(header, page_url, page_url)
        found = [from_header] if from_header is not None else []
    return min(found, key=lambda refresh: refresh.delay_s, default=None)
