"""What a judge looks at in a page: title, headings, visible text, and the places vendors leave marks in.

Visible text is what a reader sees: entities decoded, without script, style, pre, code, template, noscript and
hidden elements. Cost: one copy of the tree and one walk, 0.1-0.5 ms for 25 KB; the judge comes here only for
pages that the cheap checks could not clear.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["Page", "normal", "parse_page", "plain_page"]

#: Not prose: code samples quote the very words we look for; noscript is judged apart.
_NOT_TEXT = [
    "script",
    "style",
    "pre",
    "code",
    "samp",
    "kbd",
    "template",
    "noscript",
    "svg",
    "textarea",
    "select",
]
_HIDDEN = '[hidden],[style*="display:none"],[style*="display: none"],[style*="visibility:hidden"]'
#: Beyond this much text a page has content of its own and marks in it decide nothing; no need to collect them.
CONTENT = 3000
#: Inline script beyond this is an application, not a challenge bootstrap.
_MAX_SCRIPT = 200_000
#: Addresses and names of one page that are looked at, and how much of each: bounds what a hostile page costs.
_MAX_MARKS = 2000
_MAX_VALUE = 500
#: Text beyond this changes no verdict.
_MAX_TEXT = 20_000
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "…": "..."})


@dataclass(slots=True)
class Page:
    """All strings are lower-case with single blanks. `weight` is the length of the text, CJK counted 2.5-fold.

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


def normal(text: str) -> str:
    """Lower case, plain quotes, single blanks."""
    joined = " ".join(text.split())
    return (joined if joined.isascii() else joined.translate(_QUOTES)).lower()


def plain_page(text: str) -> Page:
    """A text/plain body: all of it is text."""
    shown = normal(text[: 4 * CONTENT])
    return Page(text=shown, weight=_weight(shown))


def parse_page(body: str, tree: LexborHTMLParser | None, *, detailed: bool = False) -> Page:
    """Features of an HTML body. `detailed` collects the vendors' places even on a page with much text."""
    own = tree.clone() if tree is not None else LexborHTMLParser(body)
    page = Page(title=_title(own))
    root = own.root
    if root is None:
        return page
    noscripts = [node.text(separator=" ") for node in own.css("noscript")]
    page.noscript = normal(" ".join(noscripts))[:4000]
    marks = own.clone()
    own.strip_tags(_NOT_TEXT)
    for node in own.css(_HIDDEN):
        # A page whose body starts hidden (anti-flicker, challenge) still shows that body in the end.
        if node.tag not in ("html", "body"):
            node.decompose()
    shown = own.body.text(separator=" ") if own.body is not None else ""
    page.text = normal(shown[:_MAX_TEXT])
    page.weight = _weight(page.text)
    page.headings = tuple(normal(node.text(separator=" "))[:300] for node in own.css("h1,h2")[:6])
    page.links = len(own.css("a[href]"))
    if detailed or page.weight <= CONTENT:
        _collect_marks(page, marks, body)
    return page


def _weight(text: str) -> int:
    if text.isascii():
        return len(text)
    head = text[: 2 * CONTENT]
    dense = sum(1 for char in head if char >= "\u2e80")
    return len(text) + dense * 3 // 2


def _title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("head title") or tree.css_first("title")
    return normal(node.text())[:300] if node is not None else ""


def _collect_marks(page: Page, tree: LexborHTMLParser, body: str) -> None:
    page.detailed = True
    inline: list[str] = []
    size = 0
    page.metadata = tree.css_first('meta[property^="og:"],meta[name^="DC." i],[itemscope]') is not None
    for node in tree.css("script"):
        if "json" in (node.attributes.get("type") or ""):
            page.metadata = True
        else:
            page.scripts += 1
        text = node.text() or ""
        size += len(text)
        if size <= _MAX_SCRIPT:
            inline.append(text)
    page.script = "\n".join(inline)
    page.sources = tuple(islice(_sources(tree), _MAX_MARKS))
    page.names = frozenset(islice(_names(tree), _MAX_MARKS))
    page.media = len(tree.css("img,video,audio,picture,canvas,svg,object,embed,iframe,frame,pre,code,math"))
    page.inputs = frozenset(
        (node.attributes.get("type") or node.tag or "").lower() for node in tree.css("input,textarea")
    )
    page.comments = " ".join(re.findall(r"<!--(.{0,400})", body[:60_000], re.S)).lower()


def _sources(tree: LexborHTMLParser) -> Iterator[str]:
    for node in tree.css("script[src],iframe[src],img[src],link[href],form[action],a[href],meta[http-equiv]"):
        attributes = node.attributes
        value = attributes.get("src") or attributes.get("action") or attributes.get("href")
        if node.tag == "meta":
            value = (
                attributes.get("content")
                if (attributes.get("http-equiv") or "").lower() == "refresh"
                else None
            )
        if value:
            yield f"{node.tag} {html.unescape(value[:_MAX_VALUE])}"


def _names(tree: LexborHTMLParser) -> Iterator[str]:
    """`#id`, `.class`, `@data-translate` values and element names with a dash, as written."""
    for node in tree.css("[id],[class],[data-translate]"):
        yield from _node_names(node)


def _node_names(node: LexborNode) -> Iterator[str]:
    attributes = node.attributes
    if identity := attributes.get("id"):
        yield "#" + identity.strip()[:_MAX_VALUE]
    for name in (attributes.get("class") or "").split():
        yield "." + name[:_MAX_VALUE]
    if translate := attributes.get("data-translate"):
        yield "@" + translate.strip()[:_MAX_VALUE]
