"""What a judge looks at in a page: title, headings, visible text, and the places vendors leave marks in.

Visible text is what a reader sees: entities decoded, without script, style, pre, code, template, noscript and
hidden elements. Costs 50-100 µs for an ordinary page of 8 KB; the vendors' places are collected, at several
times that, only where `raw_marks` says that there may be a mark. The judge comes here only for pages that the
cheap checks could not clear.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from ..css import css, css_first
from ..html_document import parse_html
from .phrases import JS_REQUIRED
from .raw_marks import Glance, glance

__all__ = ["CONTENT", "ROOT_WEIGHT", "SHELL", "Page", "decoded", "normal", "parse_page", "plain_page"]

_HIDDEN = '[hidden],[style*="display:none"],[style*="display: none"],[style*="visibility:hidden"]'
#: With less text than this a page may be the empty shell of an application.
SHELL = 300
#: With less than this the name of its root element decides.
ROOT_WEIGHT = 40
#: Beyond this much text a page has content of its own and marks in it decide nothing; no need to collect them.
CONTENT = 3000
#: Inline script beyond this is an application, not a challenge bootstrap.
_MAX_SCRIPT = 200_000
#: Addresses and names of one page that are looked at, and how much of each: bounds what a hostile page costs.
_MAX_MARKS = 2000
_MAX_VALUE = 500
#: Text beyond this changes no verdict.
_MAX_TEXT = 20_000
#: Characters of scripts that say a word in one or two of them.
_DENSE = re.compile("[\u2e80-\U0010ffff]")
_QUOTES = (("’", "'"), ("‘", "'"), ("ʼ", "'"), ("“", '"'), ("”", '"'), ("‐", "-"), ("‑", "-"), ("…", "..."))


@dataclass(slots=True)
class Page:
    """All strings are lower-case with single blanks. `weight` is the length of the text, CJK counted 2.5-fold.

    marks: False if no vendor's mark can be in sources, names, script and comments, which may be empty then.
    scripts: executable ones; metadata: JSON-LD, Open Graph, Dublin Core or microdata, content without text.
    """

    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    weight: int = 0
    noscript: str = ""
    script: str = ""
    sources: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    comments: str = ""
    scripts: int = 0
    media: int = 0
    links: int = 0
    inputs: frozenset[str] = field(default=frozenset())
    metadata: bool = False
    detailed: bool = False
    marks: bool = True


def normal(text: str) -> str:
    """Lower case, plain quotes, single blanks."""
    joined = " ".join(text.split())
    if not joined.isascii():
        for curly, plain in _QUOTES:  # eight times as fast as `translate`
            joined = joined.replace(curly, plain)
    return joined.lower()


def plain_page(text: str) -> Page:
    """A text/plain body: all of it is text."""
    shown = normal(text[: 4 * CONTENT])
    return Page(text=shown, weight=_weight(shown))


def parse_page(
    body: bytes | str,
    tree: LexborHTMLParser | None,
    *,
    seen: Glance | None = None,
    detailed: bool = False,
    disposable: bool = False,
) -> Page:
    """Features of an HTML body, which is UTF-8 if octets.

    `seen`: the glance at it, if there was one. `detailed` collects the vendors' places even on a page with much
    text or without marks. `tree` is copied unless `disposable`.
    """
    if seen is None:
        seen = glance(body if isinstance(body, bytes) else body.encode("utf-8", "replace"))
    own = parse_html(decoded(body)) if tree is None else tree if disposable else _copy(tree, body)
    page = Page(title=_title(own), marks=seen.marks or detailed)
    if own.root is None:
        return page
    stripped = bool(seen.not_text) or seen.hiding
    whole = _copy(own, body) if page.marks and stripped else own
    if "noscript" in seen.not_text:
        page.noscript = normal(" ".join(node.text(separator=" ") for node in css(own, "noscript")))[:4000]
    if stripped:
        _strip(own, seen)
    shown = own.body.text(separator=" ") if own.body is not None else ""
    page.text = normal(shown[:_MAX_TEXT])
    page.weight = _weight(page.text)
    page.headings = tuple(normal(node.text(separator=" "))[:300] for node in css(own, "h1,h2")[:6])
    shell = page.weight < ROOT_WEIGHT or (page.weight < SHELL and asks_for_scripts(page))
    if detailed or shell or (page.weight <= CONTENT and page.marks):
        page.links = len(css(own, "a[href]"))
        text = decoded(body)
        _collect_marks(page, whole if page.marks or not stripped else parse_html(text), text)
    return page


def decoded(body: bytes | str) -> str:
    """A body as text; octets are UTF-8."""
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else body


def _copy(tree: LexborHTMLParser, body: bytes | str) -> LexborHTMLParser:
    """Another tree of the same page. The parser cannot copy a doctype that has a system identifier and no public one, as
    `about:legacy-compat` is: such a page is parsed again."""
    try:
        return tree.clone()
    except SelectolaxError:
        return parse_html(decoded(body))


def asks_for_scripts(page: Page) -> bool:
    """Whether the page says that it needs a browser that runs scripts."""
    return (JS_REQUIRED.search(page.noscript) or JS_REQUIRED.search(page.text)) is not None


def _strip(tree: LexborHTMLParser, seen: Glance) -> None:
    """Take out what is not shown."""
    tree.strip_tags(list(seen.not_text))
    if not seen.hiding:
        return
    for node in css(tree, _HIDDEN):
        # A page whose body starts hidden (anti-flicker, challenge) still shows that body in the end.
        if node.tag not in ("html", "body"):
            node.decompose()


def _weight(text: str) -> int:
    if text.isascii():
        return len(text)
    dense = len(_DENSE.findall(text, 0, 2 * CONTENT))
    return len(text) + dense * 3 // 2


def _title(tree: LexborHTMLParser) -> str:
    head = tree.head
    # Within the head alone: a selector for it would walk the whole tree, and most titles are there.
    node = (css_first(head, "title") if head is not None else None) or css_first(tree, "title")
    return normal(node.text())[:300] if node is not None else ""


def _collect_marks(page: Page, tree: LexborHTMLParser, body: str) -> None:
    page.detailed = True
    inline: list[str] = []
    size = 0
    page.metadata = css_first(tree, 'meta[property^="og:"],meta[name^="DC." i],[itemscope]') is not None
    for node in css(tree, "script"):
        if "json" in (node.attributes.get("type") or ""):
            page.metadata = True
        else:
            page.scripts += 1
        text = node.text() or ""
        size += len(text)
        if size <= _MAX_SCRIPT:
            inline.append(text)
    if page.marks:
        page.script = "\n".join(inline)
        page.sources = tuple(islice(_sources(tree), _MAX_MARKS))
        page.comments = " ".join(re.findall(r"<!--(.{0,400})", body[:60_000], re.S)).lower()
    if page.marks or page.weight < ROOT_WEIGHT:
        page.names = frozenset(islice(_names(tree), _MAX_MARKS))
    page.media = len(css(tree, "img,video,audio,picture,canvas,svg,object,embed,iframe,frame,pre,code,math"))
    page.inputs = frozenset(
        (node.attributes.get("type") or node.tag or "").lower() for node in css(tree, "input,textarea")
    )


def _sources(tree: LexborHTMLParser) -> Iterator[str]:
    for node in css(
        tree, "script[src],iframe[src],img[src],link[href],form[action],a[href],meta[http-equiv]"
    ):
        attributes = node.attributes
        value = attributes.get("src") or attributes.get("action") or attributes.get("href")
        if node.tag == "meta":
            value = (
                attributes.get("content")
                if (attributes.get("http-equiv") or "").lower() == "refresh"
                else None
            )
        if value:
            # One line each: what stands behind a line break in an address begins none.
            line = html.unescape(value[:_MAX_VALUE]).replace("\n", " ")
            yield f"{node.tag} {line}"


def _names(tree: LexborHTMLParser) -> Iterator[str]:
    """`#id`, `.class`, `@data-translate` values, as written."""
    for node in css(tree, "[id],[class],[data-translate]"):
        yield from _node_names(node)


def _node_names(node: LexborNode) -> Iterator[str]:
    attributes = node.attributes
    if identity := attributes.get("id"):
        yield "#" + identity.strip()[:_MAX_VALUE]
    for name in (attributes.get("class") or "").split():
        yield "." + name[:_MAX_VALUE]
    if translate := attributes.get("data-translate"):
        yield "@" + translate.strip()[:_MAX_VALUE]
