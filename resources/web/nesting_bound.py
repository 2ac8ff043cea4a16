"""How far markup may be parsed before open elements cost too much: one pass over its tags, 0.7 µs each.

Every tag may walk the stack of open elements, and each block may be given a copy of every formatting element that was
left open. Both are estimated from the tags as they stand, on purpose too high: start tags count everywhere, in comments
and scripts too; an end tag counts only where the parser surely sees it, which is not in comments, in raw text, nor where
the tag before may go on, since its first `>` may stand in a value.
"""

from __future__ import annotations

import itertools
import re

import re2

from .attribute_bound import end_beyond
from .open_elements import OpenElements, flat_tags

__all__ = ["COPY_BUDGET", "PLAIN", "RAW_TEXT", "WORK_BUDGET", "Unseen", "affordable_end", "doubtful_ends"]

#: Steps along the stack of open elements or among attributes: 3.5 ns each, so about a second.
WORK_BUDGET = 300_000_000
#: Copies of formatting elements that later blocks may ask for: about 150 bytes each.
COPY_BUDGET = 3_000_000

#: What stands in a tag between its name and the first `>` where that surely is its end. Linear: it never goes back.
PLAIN = re.compile(
    rb"""(?:[\t\n\f\r /]++[^\t\n\f\r "'=<>/]++"""
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r "'=<>]++))?+)*+[\t\n\f\r /]*+"""
)
_OCTETS = re2.Options()
_OCTETS.encoding = re2.Options.Encoding.LATIN1  # any octet is a character: the markup need not be UTF-8
#: A `>` that a value may hold. RE2: six times as fast as `re` here.
_BRACKET_IN_VALUE = re2.compile(rb"""=\s*(?:"[^">]*>|'[^'>]*>)""", _OCTETS)
#: Elements whose text is no markup, and what ends it.
RAW_TEXT = {
    name: re2.compile(rb"(?i)</" + name + rb"[\t\n\f\r />]", _OCTETS)
    for name in b"script style title textarea xmp iframe noembed noframes".split()
}
#: A tag up to the first `>`; the beginning of a comment; what else the parser drops up to the first `>`.
_TOKEN = re.compile(rb"<(?:(/?)([a-zA-Z][^\t\n\f\r />]*)([^>]*)|!--|!\[CDATA\[|[!?/][^>]*)")


def doubtful_ends(markup: bytes, most: int | None = None) -> set[int]:
    """Where a `>` stands that may be in a value: a tag whose first one it is may go on. Some of them, and more than
    `most`, where there are more."""
    return {
        found.end() - 1 for found in itertools.islice(_BRACKET_IN_VALUE.finditer(markup), most and most + 1)
    }


class _Next:
    """Where some octets are found next, each stretch of the markup searched once."""

    def __init__(self, markup: bytes, octets: bytes) -> None:
        self._markup, self._octets = markup, octets
        self._at = -1

    def behind(self, start: int) -> int:
        """The first place from `start` on, the length of the markup if there is none; `start` never falls."""
        if self._at < start:
            found = self._markup.find(self._octets, start)
            self._at = len(self._markup) if found < 0 else found
        return self._at


class Unseen:
    """Where end tags may be text: comments, data of drawings, raw text. Told of what begins one, in document order."""

    __slots__ = ("_comment", "_data", "_markup", "_other", "_unsure", "until")

    def __init__(self, markup: bytes) -> None:
        self._markup = markup
        self._comment, self._other, self._data = (_Next(markup, end) for end in (b"-->", b"--!>", b"]]>"))
        self._unsure = 0
        #: End tags before this do not count.
        self.until = 0

    def declaration(self, at: int) -> None:
        """What begins with `<!` at this place."""
        markup = self._markup
        if markup.startswith(b"<!--", at):
            end = self._comment.behind(at + 2)
            other = self._other.behind(at + 4)
            # The other end is none within a script.
            self.until = max(self.until, end if at < self.until else min(end, other))
        elif markup.startswith(b"<![CDATA[", at):
            self.until = max(self.until, self._data.behind(at))

    def raw_text(self, name: bytes, at: int, end: int) -> None:
        """The start tag of an element of `RAW_TEXT`, which stands at `at` and ends at `end`."""
        if at >= self.until:
            ending = RAW_TEXT[name].search(self._markup, end)
            self.until = len(self._markup) if ending is None else ending.start()

    def may_go_on(self, at: int, bracket: int) -> None:
        """The tag at this place, whose first `>` may be in a value."""
        if at >= self._unsure:
            self._unsure = end_beyond(self._markup, at, bracket)
            self.until = max(self.until, self._unsure)


def affordable_end(markup: bytes) -> int | None:
    """Where the budgets end, None when they suffice."""
    flat = flat_tags(markup)
    doubtful = doubtful_ends(markup)
    elements, unseen = OpenElements(), Unseen(markup)
    stack, formatting = elements.stack, elements.formatting
    work = copied = 0
    for token in _TOKEN.finditer(markup):
        closing, name, attributes = token.groups()
        if name is None:
            unseen.declaration(token.start())
            continue
        sure = token.end() not in doubtful
        if not sure:
            unseen.may_go_on(token.start(), token.end())
        name = name.lower()
        if name in flat:
            work += len(stack)
            continue
        if closing:
            if token.start() >= unseen.until:
                elements.end(name)
        else:
            elements.start(name, attributes, sure=sure)
            if name in RAW_TEXT:
                unseen.raw_text(name, token.start(), token.end())
        work += len(stack)
        copied += len(formatting)
        if work > WORK_BUDGET or copied > COPY_BUDGET:
            return token.start()
    return None
