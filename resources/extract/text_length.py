"""How much a reader sees of a page: a number that tells a full page from an empty shell."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

__all__ = ["text_length"]

#: Elements whose text nobody sees.
_INVISIBLE = ("script", "style", "noscript", "template")
_BLANKS = " \n\t\r\u00a0"


def text_length(tree: LexborHTMLParser, markup: bytes) -> int:
    """Characters of the body's text that are no blanks, without scripts and the like.

    Blanks are left out because their number is a matter of how the markup is laid out. Counted, not cut out:
    invisible elements within each other count twice, which real pages do not have. `markup`, which the tree was
    made from, says which of them there can be: looking there is cheaper than walking the tree.
    """
    body = tree.body
    if body is None:
        return 0
    lower = markup.lower()
    hidden = 0
    for tag in _INVISIBLE:
        if b"<" + tag.encode() in lower:
            hidden += sum(_ink(node.text()) for node in body.css(tag))
    return max(0, _ink(body.text()) - hidden)


def _ink(text: str) -> int:
    return len(text) - sum(map(text.count, _BLANKS))
