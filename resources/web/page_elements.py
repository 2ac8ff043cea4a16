"""The elements that the parse stage reads of every page, found in one walk over its tree.

Each question asked of the selector engine is a walk of its own: 50 µs on a page of 30 KB with 3,000 nodes, while
one walk that answers five of them takes 70. So elements are found once and handed to whoever reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .css import css

__all__ = ["PageElements", "read_elements"]

#: `[href]` for `a`, `area` and `base`: one attribute is cheaper to look for than three tags that have it.
_SELECTOR = "[href],meta,script,style,noscript,template"
_NEVER_SEEN = "script,style,noscript,template"
#: What is asked of the head alone, which is short: a walk for each would cost more than the answers.
_OF_HEAD = f'title,link[rel~="canonical" i][href],{_NEVER_SEEN}'


def _tag_id(tag: str) -> int:
    """The parser's number for a tag: comparing it is cheaper than making the name."""
    node = LexborHTMLParser(f"<html><{tag}>").css_first(tag)
    assert node is not None and node.tag_id is not None  # it has just been written there
    return node.tag_id


_ANCHORS = frozenset(map(_tag_id, ("a", "area")))
_BODY, _META, _SCRIPT, _BASE, _LINK = map(_tag_id, ("body", "meta", "script", "base", "link"))
_UNSEEN = frozenset(map(_tag_id, ("script", "style", "noscript", "template")))


@dataclass(slots=True)
class PageElements:
    """Each list in document order, every element once."""

    #: `a` and `area` elements with an `href`.
    anchors: list[LexborNode] = field(default_factory=list)
    #: `base` elements with an `href`.
    bases: list[LexborNode] = field(default_factory=list)
    #: `meta` and `script` elements.
    data: list[LexborNode] = field(default_factory=list)
    #: Elements below `body` whose text nobody sees.
    unseen: list[LexborNode] = field(default_factory=list)
    #: The first `title` of the head.
    title: LexborNode | None = None
    #: `link` elements of the head that name its canonical address.
    canonicals: list[LexborNode] = field(default_factory=list)


def read_elements(tree: LexborHTMLParser) -> PageElements:
    """One walk. An element that two selectors match is given twice in a row by the engine, and kept once."""
    found = PageElements()
    anchor, datum = found.anchors.append, found.data.append
    unseen: list[LexborNode] = []
    last = 0
    for node in css(tree, _SELECTOR):
        tag = node.tag_id
        if tag in _ANCHORS:
            anchor(node)
        elif tag == _BASE:
            found.bases.append(node)
        elif tag == _META or tag in _UNSEEN:
            # Only these match by their name and may have an `href` besides.
            if node.mem_id == last:
                continue
            last = node.mem_id
            if tag in (_META, _SCRIPT):
                datum(node)
            if tag in _UNSEEN:
                unseen.append(node)
    head, body = tree.head, tree.body
    of_head = _read_head(head, found) if head is not None else 0
    if body is not None and body.tag_id == _BODY and body.parent is not None:
        # What is not in the head, which is before the body: cheaper than to look for the body in the walk.
        found.unseen = unseen[of_head:]
    elif body is not None:
        # A frameset took the place of the body, which the parser still gives and whose text is still counted.
        found.unseen = _never_seen(body)
    return found


def _read_head(head: LexborNode, found: PageElements) -> int:
    """Its title and canonical links; returns the number of its elements that nobody sees."""
    unseen = 0
    for node in css(head, _OF_HEAD):  # no element matches two of them
        tag = node.tag_id
        if tag in _UNSEEN:
            unseen += 1
        elif tag == _LINK:
            found.canonicals.append(node)
        elif found.title is None:
            found.title = node
    return unseen


def _never_seen(scope: LexborNode) -> list[LexborNode]:
    return list({node.mem_id: node for node in css(scope, _NEVER_SEEN)}.values())
