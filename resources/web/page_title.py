"""The title of a document without the name of its site, where the two can be told apart.

Titles join the page's own with the site's by a separator between blanks. The longer-than-a-label part before
the last one is taken; where that leaves too little, the title stays whole.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

__all__ = ["document_title", "title_text"]

_SEPARATORS = r"|\-–—\\/>»"
_SEPARATOR = re.compile(rf"\s[{_SEPARATORS}]\s")
_HIERARCHY = re.compile(r"\s[\\/>»]\s")
_UP_TO_FIRST = re.compile(rf"^[^{_SEPARATORS}]*[{_SEPARATORS}]")
#: Fewer words than this are a label, not a title.
_LABEL_WORDS = 3
#: Titles outside these lengths may be better said by the only heading.
_SHORTEST, _LONGEST = 15, 150


def title_text(tree: LexborHTMLParser) -> str:
    """The text of the first title element of the document, blanks folded (HTML 3.1.5 `document.title`)."""
    for node in tree.css("title"):
        parent = node.parent
        if parent is not None and parent.tag != "svg":
            return " ".join(node.text().split())
    return ""


def document_title(tree: LexborHTMLParser) -> str:
    """The title of the page. Numbered cases of the whole title:

    1. separators: what stands before the last, or, if that is a label, after the first; 2. a colon, and no
    heading says the same: what stands after the last colon, or after the first; 3. much too short or long: the
    only h1. A result of four words or fewer is given up for the whole, unless only a site's name was cut.
    """
    whole = title_text(tree)
    title = whole
    hierarchical = False
    separators = list(_SEPARATOR.finditer(whole))
    if separators:
        hierarchical = _HIERARCHY.search(whole) is not None
        title = whole[: separators[-1].start()]
        if _words(title) < _LABEL_WORDS:
            title = _UP_TO_FIRST.sub("", whole)
    elif ": " in whole:
        if not any(" ".join(node.text().split()) == whole for node in tree.css("h1,h2")):
            title = whole[whole.rindex(":") + 1 :]
            if _words(title) < _LABEL_WORDS:
                title = whole[whole.index(":") + 1 :]
            elif _words(whole[: whole.index(":")]) > 5:
                title = whole
    elif not _SHORTEST <= len(whole) <= _LONGEST:
        headings = tree.css("h1")
        if len(headings) == 1:
            title = headings[0].text()
    title = " ".join(title.split())
    count = _words(title)
    if count <= 4:
        without = _words(re.sub(rf"\s[{_SEPARATORS}]+\s", "", whole))
        if not hierarchical or count != without - 1:
            return whole
    return title


def _words(text: str) -> int:
    return len(text.split())
