"""The rows of a page in the `links` table: one for each distinct target, with the words of its first anchor.

Targets are canonical (no fragment), the page itself is none. This is the hot loop of the parse stage: a page
of the web has some 185 anchors with 75 addresses. So anchors are first made distinct by their raw address, and
addresses joined once; text is read only of the anchors that are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from resources.web.links import MAX_LINKS, document_base
from resources.web.url_policy import UrlPolicy
from resources.web.urls import (
    MAX_URL_LENGTH,
    canonical,
    canonical_of_joined,
    in_document_encoding,
    joiner,
)

__all__ = ["LinkRow", "link_rows"]

#: (to_url, anchor, rel, in_scope)
LinkRow: TypeAlias = tuple[str, str, str, bool]

#: An anchor that wraps a whole card is cut: the words tell people which link it is.
MAX_ANCHOR = 500


def link_rows(
    tree: LexborHTMLParser,
    page_url: str,
    encoding: str,
    policy: UrlPolicy,
    in_scope: Callable[[str], bool],
    *,
    frames: bool = False,
) -> list[LinkRow]:
    """Links of `a` and `area` elements in document order; `iframe` and `frame` sources with `frames`.

    `anchor`: the first text that is not empty, else the alternative text of the first image; blanks folded.
    `rel`: lower-case tokens of all anchors to the target, sorted, joined by a blank.
    """
    first: dict[str, list[LexborNode]] = {}
    rels: dict[str, str] = {}
    for node in tree.css("a[href],area[href]"):
        get = node.attrs.get
        href = get("href") or get("xlink:href") or ""
        mark = href.find("#")
        if mark >= 0:
            href = href[:mark]
        nodes = first.get(href)
        if nodes is None:
            first[href] = [node]
        elif len(nodes) < 4:
            nodes.append(node)
        if rel := get("rel"):
            rels[href] = f"{rels[href]} {rel}" if href in rels else rel
    if frames:
        for node in tree.css("iframe[src],frame[src]"):
            src = (node.attrs.get("src") or "").partition("#")[0]
            if src:
                first.setdefault(src, []).append(node)
    resolve = joiner(document_base(tree, page_url))
    own = canonical(page_url, policy)
    nodes_of: dict[str, list[LexborNode]] = {}
    rel_of: dict[str, str] = {}
    for href, nodes in first.items():
        if len(href) > MAX_URL_LENGTH:
            continue
        joined = resolve(href if href.isascii() else in_document_encoding(href, encoding))
        if joined is None or len(joined) > MAX_URL_LENGTH:
            continue
        url = canonical_of_joined(joined, policy)
        if url == own:
            continue
        known = nodes_of.get(url)
        if known is None:
            if len(nodes_of) >= MAX_LINKS:
                continue
            nodes_of[url] = nodes
        else:
            known += nodes
        if href in rels:
            rel_of[url] = f"{rel_of[url]} {rels[href]}" if url in rel_of else rels[href]
    return [
        (url, _anchor(nodes), " ".join(sorted(set(rel_of[url].lower().split()))) if url in rel_of else "",
         in_scope(url))
        for url, nodes in nodes_of.items()
    ]  # fmt: skip


def _anchor(nodes: list[LexborNode]) -> str:
    for node in nodes:
        text = node.text()
        if text and not text.isspace():
            return " ".join(text.split())[:MAX_ANCHOR]
    node = nodes[0]
    image = node if node.tag == "area" else node.css_first("img[alt]")
    return " ".join((image.attrs.get("alt") or "").split())[:MAX_ANCHOR] if image is not None else ""
