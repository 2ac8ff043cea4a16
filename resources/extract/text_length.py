"""How much a reader sees of a page: a number that tells a full page from an empty shell."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["text_length"]

_BLANKS = " \n\t\r\u00a0"
#: Characters from which on looking at them as an array is cheaper than counting in the string.
_LONG = 1_000


def text_length(tree: LexborHTMLParser, unseen: Iterable[LexborNode]) -> int:
    """Characters of the body's text that are no blanks, without scripts and the like.

    Blanks are left out because their number is a matter of how the markup is laid out. Counted, not cut out:
    invisible elements within each other count twice, which real pages do not have. `unseen`: those elements of
    the body (`PageElements.unseen`).
    """
    body = tree.body
    if body is None:
        return 0
    return max(0, _ink(body.text()) - sum(_ink(node.text()) for node in unseen))


def _ink(text: str) -> int:
    if len(text) < _LONG:
        return len(text) - sum(map(text.count, _BLANKS))
    # In the width that the string has in memory: UTF-8 would have to be made of what is not ASCII.
    units: NDArray[np.uint8] | NDArray[np.uint16]
    try:
        units = np.frombuffer(text.encode("latin-1"), np.uint8)
    except UnicodeEncodeError:
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    # Most pages have one or two kinds, and that a kind is not there is told at once.
    blanks = sum(int(np.count_nonzero(units == ord(blank))) for blank in _BLANKS if blank in text)
    return len(text) - blanks
