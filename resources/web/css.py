"""CSS selectors over many trees with one engine a thread.

A tree's own `css` makes an engine for that document when it is first asked: 30 µs, as much as a walk over a page of
30 KB. An engine keeps nothing of a document or a selector after an answer, so one serves them all. For whole
documents and their elements; fragments have to ask themselves.
"""

from __future__ import annotations

import threading
from typing import Any

from selectolax.lexbor import LexborCSSSelector, LexborHTMLParser, LexborNode

__all__ = ["css", "css_first"]


class _Engine(threading.local):
    """`find_first` is there but in no stub, hence Any."""

    def __init__(self) -> None:
        kind: Any = LexborCSSSelector
        engine = kind()
        self.find, self.find_first = engine.find, engine.find_first


_engine = _Engine()


def css(scope: LexborHTMLParser | LexborNode, selector: str) -> list[LexborNode]:
    """The elements at and below `scope` that match, as `scope.css` gives them. SelectolaxError if it is no selector."""
    node = scope.root if isinstance(scope, LexborHTMLParser) else scope
    found: list[LexborNode] = _engine.find(selector, node) if node is not None else []
    return found


def css_first(scope: LexborHTMLParser | LexborNode, selector: str) -> LexborNode | None:
    """The first of them; the walk ends there."""
    node = scope.root if isinstance(scope, LexborHTMLParser) else scope
    found: list[LexborNode] = _engine.find_first(selector, node) if node is not None else []
    return found[0] if found else None
