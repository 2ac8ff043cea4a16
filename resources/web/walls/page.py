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
_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "…": "..."})


@dataclass(slots=True)
class Page:
    """All strings are lower-case with single blanks. `weight` is the length of the text, CJK counted 2.5-fold."""

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
    detailed: bool = False


def normal(text: str) -> str:
    """Lower case, plain quotes, single blanks."""
    return _SPACE.sub(" ", text.translate(_QUOTES)).strip().lower()


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
    page.text = normal(shown)
    page.weight = _weight(page.text)
    page.headings = tuple(normal(node.text(separator=" "))[:300] for node in own.css("h1,h2")[:6])
    page.links = len(own.css("a[href]"))
    if detailed or page.weight <= CONTENT:
        _collect_marks(page, marks, body)
    return page


def _weight(text: str) -> int:
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
    for node in tree.css("script"):
        page.scripts += 1
        text = node.text() or ""
        size += len(text)
        if size <= _MAX_SCRIPT:
            inline.append(text)
    page.script = "\n".join(inline)
    page.sources = tuple(_sources(tree))
    page.names = frozenset(_names(tree))
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
            yield f"{node.tag} {html.unescape(value)}"


def _names(tree: LexborHTMLParser) -> Iterator[str]:
    """`#id`, `.class`, `@data-translate` values and element names with a dash, as written."""
    for node in tree.css("[id],[class],[data-translate]"):
        yield from _node_names(node)


def _node_names(node: LexborNode) -> Iterator[str]:
    attributes = node.attributes
    if identity := attributes.get("id"):
        yield "#" + identity.strip()
    for name in (attributes.get("class") or "").split():
        yield "." + name
    if translate := attributes.get("data-translate"):
        yield "@" + translate.strip()
