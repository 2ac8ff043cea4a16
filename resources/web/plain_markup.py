"""Markup so plain that its links can be read from its tags, without a tree.

Most pages come out of programs that write attributes as ``name="value"``, names in lower case, and close what they
open. Of such a page it is cheap to say where each tag ends and what is raw text, and then its links are the `a` tags
outside raw text: a tree builder moves elements, but it neither drops links nor makes up new ones. `plain_tags` gives
them where it is sure of that, and None for any other page: that one needs the parser.

A page is plain if, outside comments and raw text,

1. each ``<`` begins a tag, a doctype or a processing instruction, and the names of start tags are in lower case;
2. a tag has no ``<`` or ``>`` before its end, and its quotes add up;
3. no tag changes what others mean (`base`, `template`, `plaintext`, frames); in `svg`, `math` and `select` stands no
   link, and no raw text with markup in it;

and if comments and raw text end where nobody can doubt it, and the parser would not cut the page (`html_document`): what
is cut is told by whoever parses. Tests hold this to the parser, over real, made and mutated pages. Known to differ: a tag
other than a link whose quotes are broken and yet add up may go on beyond its ``>`` for the parser; the links in what it
swallows are read here.

Costs 5 µs a KB, two thirds of bounding the markup, building its tree and walking over it, on large pages half. Linear
whatever the bytes are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .attribute_bound import affordable_attributes
from .html_document import FEW_TAGS, MAY_FORMAT, surely_affordable

__all__ = ["PlainTags", "plain_tags"]

#: What the two octets behind a ``<`` begin, as bits: what is looked at; an end tag; maybe a formatting start tag.
_LOOK, _END, _FORMATTING = 1, 2, 4
#: A tag of a link, and some of no plain one.
_LINK_BEGINS = rb"<a(?:rea)?+[ \t\n\f\r/]"
_LINK = re.compile(_LINK_BEGINS + rb"[^>]*+>")
#: The same where it is not known yet that tags end: looking for their ends could take the square of the page.
_ANY_LINK = re.compile(_LINK_BEGINS)
_LESS = ord("<")
_LOWER, _UPPER = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_AFTER_NAME = b"\t\n\f\r />"
#: As much of a name as says whether it is one of those below.
_NAME = re.compile(rb"[^\t\n\f\r /><]{0,16}+")

#: Elements whose content is text for the tokenizer (HTML 13.2.6.4, with scripting off).
_RAW = frozenset((b"script", b"style", b"title", b"textarea", b"iframe", b"xmp", b"noembed", b"noframes"))
#: Elements within which tags mean something else.
_APART = frozenset((b"svg", b"math", b"select"))
#: A page that has one of these needs a tree.
_NEEDS_TREE = frozenset((b"base", b"template", b"plaintext", b"frame", b"frameset"))
#: Shorter ones are no pages.
_SHORTEST = 16
#: Octets that say nothing about where a tag ends.
_NO_STRUCTURE = bytes(octet for octet in range(256) if octet not in b'<>="')


def _kinds() -> NDArray[np.uint8]:
    """What each pair of octets begins. What begins no plain tag is looked at too."""
    table = np.full((256, 256), _LOOK, np.uint8)
    table[list(_LOWER)] = 0
    table[np.ix_(list(_LOWER), list(_UPPER))] = _LOOK
    table[ord("/"), list(_LOWER + _UPPER)] = 0
    table[ord("/")] |= _END
    for name in (*_RAW, *_APART, *_NEEDS_TREE, b"meta", b"area"):
        table[name[0], name[1]] = _LOOK
    octets = np.arange(256, dtype=np.uint16) | 32
    table[MAY_FORMAT[octets[:, None] << 8 | octets]] |= _FORMATTING
    return table.T.reshape(-1)  # by the second octet, then the first: as they are read


_KIND = _kinds()


@dataclass(slots=True)
class PlainTags:
    """Start tags in document order: of `a` and `area` with attributes, each spelling once; of `meta`."""

    links: list[bytes]
    metas: list[bytes]


def plain_tags(markup: bytes) -> PlainTags | None:
    """The tags of a plain page, which is in UTF-8; None where it is not surely one."""
    # The tokenizer has rules of its own for NUL.
    if len(markup) < _SHORTEST or b"\0" in markup or affordable_attributes(markup) is not None:
        return None
    at = np.flatnonzero(np.frombuffer(markup, np.uint8, len(markup) - 2) == _LESS)
    # A number at each octet, of it and the next one, without copying.
    kinds = _KIND[np.ndarray(len(markup) - 2, "<u2", markup, 1, (1,))[at]]
    if len(at) > FEW_TAGS and not _affordable(markup, at, kinds):
        return None
    page = _Page(markup)
    for place in at[kinds & _LOOK != 0].tolist():
        if place >= page.until and not page.look(place):
            return None
    tagged = page.tagged()
    if not _well_formed(tagged):
        return None
    # Only now it is sure that each tag has an end of its own.
    find = markup.find
    links = list(dict.fromkeys(_LINK.findall(tagged)))
    return PlainTags(links, [markup[place : find(b">", place) + 1] for place in page.metas])


def _affordable(markup: bytes, at: NDArray[np.intp], kinds: NDArray[np.uint8]) -> bool:
    """Whether the parser would read all of it: as `html_document.cut_of` finds out, with what is known already."""
    starts = len(at) - int(np.count_nonzero(kinds & _END))
    return surely_affordable(markup, starts, at[kinds & _FORMATTING != 0])


class _Page:
    """What is left out of a page: raw text and comments; and where its links may not stand."""

    def __init__(self, markup: bytes) -> None:
        self.markup = markup
        #: Where the last raw text or comment ends.
        self.until = 0
        self.metas: list[int] = []
        #: The markup outside what is hidden.
        self._seen: list[bytes] = []
        #: Where the last `svg` and the like end, by name.
        self._ends: dict[bytes, int] = {}
        self._apart_until = 0

    def look(self, place: int) -> bool:
        """What begins at `place`? False: no plain page. Numbered cases:

        1. comments, the doctype, processing instructions; 2. raw text; 3. `svg` and the like; 4. metas; 5. what needs a
        tree; 6. any other tag.
        """
        markup = self.markup
        first = markup[place + 1]
        if first not in _LOWER:
            return first in b"!?" and self._declaration(place)
        found = _NAME.match(markup, place + 1)
        name = found[0] if found is not None else b""
        if name.lower() != name:
            return False
        apart = place < self._apart_until
        if name in _RAW:
            return self._raw_text(place, name, apart=apart)
        if name in _APART:
            return self._begin_apart(place, name)
        if name == b"meta":
            self.metas.append(place)
            return not apart
        return name not in _NEEDS_TREE

    def _declaration(self, place: int) -> bool:
        markup = self.markup
        if markup.startswith(b"<!--", place):
            end = markup.find(b"-->", place + 4)
            # Also ends a comment, though it should not: `<!-->`, `<!--->` and `--!>` (HTML 13.2.5.43 to 13.2.5.51).
            doubtful = markup.startswith((b"<!-->", b"<!--->"), place)
            if end < 0 or doubtful or markup.find(b"--!>", place + 4, end) >= 0:
                return False
            return self._hide(place, place, end + 3)
        if markup[place + 1] == ord("?") or markup[place + 2 : place + 9].lower() == b"doctype":
            end = markup.find(b">", place)
            return end >= 0 and self._hide(place, place, end + 1)
        return False

    def _raw_text(self, place: int, name: bytes, *, apart: bool) -> bool:
        """Whether it ends where its first end tag stands."""
        markup = self.markup
        start = markup.find(b">", place) + 1
        end = markup.find(b"</" + name, start) if start else -1
        if end < 0 or markup[end + 2 + len(name) : end + 3 + len(name)] not in _AFTER_NAME:
            return False
        text = markup[start:end]
        if (apart and b"<" in text) or b"</" + name in text.lower():
            return False
        # Within a comment in a script its end tag may end nothing (HTML 13.2.5.20 to 13.2.5.31).
        if name == b"script" and b"<!--" in text:
            return False
        return self._hide(place, start, end)

    def _hide(self, place: int, start: int, end: int) -> bool:
        """Leave out what begins at `place`, from `start` to `end`."""
        self._seen.append(self.markup[self.until : start])
        if place == start:
            self._seen.append(b"<>")  # a tag to all that follows: it may not stand in another one
        self.until = end
        # What began within `svg` has to end there.
        return place >= self._apart_until or end <= self._apart_until

    def _begin_apart(self, place: int, name: bytes) -> bool:
        """Whether it has an end of its own, and no link before that. One within another may outlast it."""
        if place < self._ends.get(name, 0):  # one in another of its kind: the first end is not that of both
            return False
        end = self._ends[name] = self.markup.find(b"</" + name, place)
        begin = max(place, self._apart_until)
        self._apart_until = max(end, self._apart_until)
        return end >= 0 and _ANY_LINK.search(self.markup, begin, self._apart_until) is None

    def tagged(self) -> bytes:
        """The markup without what is hidden."""
        return b"".join((*self._seen, self.markup[self.until :])) if self._seen else self.markup


def _well_formed(markup: bytes) -> bool:
    """Whether each tag ends at its first ``>``. Numbered cases:

    1. all ``=`` and ``"`` in tags are those of values in double quotes, with few ``=`` in them; 2. quotes add up, and no
    ``>`` stands outside tags: so none stands in a value in single quotes either.
    """
    structure = markup.translate(None, _NO_STRUCTURE)
    tags = structure.count(b"<")
    for value in (b'=""', b'="="', b'="=="'):
        structure = structure.replace(value, b"")
        if structure.count(b"<>") == tags:
            return True
    if structure.count(b">") != tags:
        return False
    return structure.replace(b"=", b"").replace(b'""', b"").count(b"<>") == tags
