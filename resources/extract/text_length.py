"""How much a reader sees of a page: a number that tells a full page from an empty shell."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

__all__ = ["text_length"]

#: Elements whose text nobody sees. Asked for one by one: a list of selectors costs more than its parts.
_INVISIBLE = ("script", "style", "noscript", "template")
_BLANKS = " \n\t\r\u00a0"


def text_length(tree: LexborHTMLParser) -> int:
    """Characters of the body's text that are no blanks, without scripts and the like.

    Blanks are left out because their number is a matter of how the markup is laid out. Counted, not cut out:
    invisible elements within each other count twice, which real pages do not have.
    """
    body = tree.body
    if body is None:
        return 0
    hidden = sum(_ink(node.text()) for tag in _INVISIBLE for node in body.css(tag))
    return max(0, _ink(body.text()) - hidden)


def _ink(text: str) -> int:
    return len(text) - sum(map(text.count, _BLANKS))
