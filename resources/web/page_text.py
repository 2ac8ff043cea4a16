"""The text of a page: all that a reader can see, and the part that the page is about.

The main part is found by where the prose is: each paragraph gives points to its parent and grandparent (one,
one for each comma, one for each 100 characters up to three), links take points away, and the element with the
most points wins, widened to ancestors and siblings that hold prose as well. It is a heuristic in the tradition
of the reading modes of browsers and prefers too much text to too little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["main_node", "main_text", "visible_text"]

#: Elements whose text no reader sees. `noscript` is seen only where scripts do not run.
_INVISIBLE = "script,style,noscript,template,iframe,noframes,object,svg title,datalist"
#: Elements of a main part that are not its text.
_FURNITURE = frozenset(
    (
        *("script", "style", "noscript", "template", "iframe", "noframes", "object", "datalist"),
        *("title", "nav", "button", "select", "textarea"),
    )
)
#: Elements that begin and end a line of their own (HTML 15.3), so that words on both sides stay apart.
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details"),
        *("dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2"),
        *("h3", "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "main", "menu", "nav", "ol"),
        *("p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    )
)

_BLANKS = re.compile(r"\s+")
_COMMAS = re.compile("[,،、，؛;]")
_SEPARATOR = "\x1f"
#: Shorter paragraphs are captions, buttons and menus.
_SHORTEST_PARAGRAPH = 25
#: Ancestors of a paragraph that get points, and by what they are divided.
_SHARES = (1.0, 2.0, 6.0, 9.0)
#: Enough to place the text; bounds the work on a page of a million paragraphs.
_MOST_PARAGRAPHS = 20_000
_OFF_TOPIC_TAGS = frozenset(("nav", "aside", "footer", "form"))
_OFF_TOPIC_NAMES = re.compile(
    r"(?i)comment|combx|disqus|sidebar|sponsor|shoutbox|popup|breadcrumb|cookie|banner|related|social|share|promo|menu"
)


def visible_text(tree: LexborHTMLParser) -> str:
    """The text of the body without scripts, styles and noscript, blanks folded.

    Fast rather than fine: one pass in C and a few cuts. Text nodes are told apart by a blank, so a word cut by
    an inline element becomes two. Invisible pieces are cut out by their own text, in document order; where a
    visible piece equals an invisible one the other of the two may be cut, which is the same text.
    """
    body = tree.body
    if body is None:
        return ""
    text = _SEPARATOR + body.text(separator=_SEPARATOR) + _SEPARATOR
    kept = []
    at = 0
    for hidden in body.css(_INVISIBLE):
        piece = hidden.text(separator=_SEPARATOR)
        found = text.find(_SEPARATOR + piece + _SEPARATOR, max(at - 1, 0)) if piece else -1
        if found >= 0:
            kept.append(text[at:found])
            at = found + len(piece) + 1
    kept.append(text[at:])
    return " ".join("".join(kept).replace(_SEPARATOR, " ").split())


def _reading_text(root: LexborNode) -> str:
    """The text of `root` as it reads: blocks told apart, words cut by inline elements whole, no furniture."""
    pieces: list[str] = []
    end = root.mem_id
    node = root.first_child
    while node is not None:
        tag = node.tag or ""
        if tag == "-text":
            pieces.append(node.text_content or "")
        elif tag[:1] != "-" and tag not in _FURNITURE:
            if tag in _BLOCKS:
                pieces.append(" ")
            child = node.first_child
            if child is not None:
                node = child
                continue
        following = node.next
        while following is None:
            node = node.parent
            if node is None or node.mem_id == end:
                return " ".join("".join(pieces).split())
            if node.tag in _BLOCKS:
                pieces.append(" ")
            following = node.next
        if node.tag in _BLOCKS:
            pieces.append(" ")
        node = following
    return " ".join("".join(pieces).split())


@dataclass(slots=True)
class _Candidate:
    node: LexborNode
    points: float = 0.0


def main_text(tree: LexborHTMLParser) -> str:
    """The text of `main_node` and of its siblings that hold prose too; all visible text when nothing stands out."""
    found = _main(tree)
    if found is None:
        return visible_text(tree)
    return " ".join(filter(None, (_reading_text(node) for node in found)))


def main_node(tree: LexborHTMLParser) -> LexborNode | None:
    """The element that holds most of the prose; None when the page has no paragraph worth the name."""
    found = _main(tree)
    return found[0] if found else None


def _main(tree: LexborHTMLParser) -> list[LexborNode] | None:
    candidates = _score(tree)
    if not candidates:
        return None
    for candidate in candidates.values():
        candidate.points *= 1 - _link_share(candidate.node)
    best = max(candidates.values(), key=lambda c: c.points)
    node, points = _widen(best, candidates)
    if node.tag in ("body", "html"):
        return [node]
    parent = node.parent
    if parent is None:
        return [node]
    threshold = max(10.0, points * 0.2)
    chosen = []
    for sibling in parent.iter():
        if sibling.mem_id == node.mem_id or _belongs(sibling, candidates, threshold):
            chosen.append(sibling)
    return chosen


def _score(tree: LexborHTMLParser) -> dict[int, _Candidate]:
    candidates: dict[int, _Candidate] = {}
    off_topic: dict[int, bool] = {}
    for paragraph in tree.css("p,pre,td,blockquote,article > div,section > div,h2 ~ ul > li")[
        :_MOST_PARAGRAPHS
    ]:
        text = paragraph.text()
        length = len(_BLANKS.sub(" ", text).strip())
        if length < _SHORTEST_PARAGRAPH or _stands_off_topic(paragraph, off_topic):
            continue
        points = 1 + len(_COMMAS.findall(text)) + min(length // 100, 3)
        ancestor = paragraph.parent
        for share in _SHARES:
            if ancestor is None or ancestor.tag in ("html", "-document", None):
                break
            candidate = candidates.setdefault(ancestor.mem_id, _Candidate(ancestor))
            candidate.points += points / share
            ancestor = ancestor.parent
    return candidates


def _is_off_topic(node: LexborNode) -> bool:
    """Whether an element names itself a menu, a margin, an advertisement, a comment section."""
    get = node.attrs.get
    names = f"{get('class') or ''} {get('id') or ''}"
    return node.tag in _OFF_TOPIC_TAGS or (len(names) < 300 and _OFF_TOPIC_NAMES.search(names) is not None)


def _stands_off_topic(node: LexborNode, known: dict[int, bool]) -> bool:
    """Whether the paragraph stands in a menu, a margin, a comment; remembered per ancestor."""
    path = []
    verdict = False
    ancestor = node.parent
    while ancestor is not None:
        key = ancestor.mem_id
        if key in known:
            verdict = known[key]
            break
        path.append(key)
        if ancestor.tag in ("body", "html", "article", "main"):
            break
        if _is_off_topic(ancestor):
            verdict = True
            break
        ancestor = ancestor.parent
    known.update(dict.fromkeys(path, verdict))
    return verdict


def _link_share(node: LexborNode) -> float:
    """The part of an element's text that is anchors."""
    length = len(node.text())
    if not length:
        return 0.0
    return min(1.0, sum(len(a.text()) for a in node.css("a[href]")) / length)


def _widen(best: _Candidate, candidates: dict[int, _Candidate]) -> tuple[LexborNode, float]:
    """Up to the ancestor that gathers more: where several columns of prose meet, points rise again.

    Numbered cases: 1. an ancestor with more points: take it; 2. one with less than a third: stop; 3. an
    ancestor that has no other child: take it, to see its siblings; 4. an article or main around: take it.
    """
    node, points = best.node, best.points
    last = points
    parent = node.parent
    while parent is not None and parent.tag not in ("body", "html"):
        candidate = candidates.get(parent.mem_id)
        if candidate is None or candidate.points < last / 3:
            break
        if candidate.points > last:
            node, points = parent, candidate.points
            break
        last = candidate.points
        parent = parent.parent
    parent = node.parent
    while parent is not None and parent.tag not in ("body", "html") and sum(1 for _ in parent.iter()) == 1:
        node, parent = parent, parent.parent
    ancestor: LexborNode | None = node
    for _ in range(6):
        if ancestor is None or ancestor.tag in ("body", "html"):
            break
        if ancestor.tag in ("article", "main"):
            return ancestor, points
        ancestor = ancestor.parent
    return node, points


def _belongs(sibling: LexborNode, candidates: dict[int, _Candidate], threshold: float) -> bool:
    """Whether a sibling of the main element is part of the text: points of its own, or a paragraph of prose."""
    candidate = candidates.get(sibling.mem_id)
    if candidate is not None and candidate.points >= threshold:
        return True
    if sibling.tag not in ("p", "h1", "h2", "h3", "pre", "ul", "ol", "table", "blockquote", "header"):
        return False
    length = len(sibling.text().strip())
    return length > 0 and _link_share(sibling) < (0.25 if length > 80 else 0.1)
