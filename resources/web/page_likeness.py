"""How far two bodies are apart for a reader: the measure by which an audit tells pages from spellings of one page.

Bytes do not serve: two answers to one request differ in time stamps, tokens and counters. Compared are the words
that are read, as multisets: `distance = 1 - |A ∩ B| / |A ∪ B|`, 0 for equal texts and 1 for texts without a common
word. It is taken twice, of title and main text and of all visible text, and the larger counts: menus around a short
text must not hide that the text is another, and a list without prose has no main text. Order does not count, so a
list that is only sorted otherwise is the same page; a list of other things is not.

Bodies that are no text are equal or not.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from .encoding import to_utf8
from .html_document import parse_html
from .page_text import main_text, visible_text
from .page_title import title_text

__all__ = ["Reading", "distance", "read_html", "read_other"]

_WORD = re.compile(r"\w+")
#: Words counted of one text: beyond it a page is told from another by its beginning.
MAX_WORDS = 50_000


@dataclass(frozen=True, slots=True)
class Reading:
    """What is compared of a body: words of the main text (title included), of all text, or the bytes themselves."""

    main: Counter[str]
    visible: Counter[str]
    raw: bytes = b""


def read_html(body: bytes, content_type: str | None) -> Reading:
    """A page's reading. Parses: bounded in time and memory by `parse_html`."""
    utf8, _ = to_utf8(body, content_type)
    tree = parse_html(utf8)
    return Reading(_words(f"{title_text(tree)} {main_text(tree)}"), _words(visible_text(tree)))


def read_other(body: bytes) -> Reading:
    """Of anything that is no HTML: text by its words, the rest as it is."""
    try:
        words = _words(body.decode("utf-8"))
    except UnicodeDecodeError:
        return Reading(Counter(), Counter(), body)
    return Reading(words, words, b"" if words else body)


def _words(text: str) -> Counter[str]:
    return Counter(match.group() for match in islice(_WORD.finditer(text.lower()), MAX_WORDS))


def distance(one: Reading, other: Reading) -> float:
    """0 (the same) to 1 (nothing in common). Symmetric."""
    if one.raw or other.raw:
        return float(one.raw != other.raw)
    return max(_apart(one.main, other.main), _apart(one.visible, other.visible))


def _apart(one: Counter[str], other: Counter[str]) -> float:
    union = (one | other).total()
    return 1.0 - (one & other).total() / union if union else 0.0
