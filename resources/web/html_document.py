"""HTML parsed into a tree, in bounded time and memory whatever the bytes are.

Three things make a conforming tree builder superlinear in what pages of the web contain: depth (an open tag may
walk the stack of open elements: 50,000 nested ``div`` take 4 s), unclosed formatting elements (each is
copied into every later paragraph: 20 KB can become a gigabyte) and attributes (each is compared with all before it on
its tag: 60,000 take ten seconds; see `attribute_bound`). `cut_of` estimates all three in linear passes and says where a
budget is used up, and which. It overestimates on purpose: it counts open tags in comments and scripts too, and trusts
end tags less.

Ordinary pages are let through by cheaper bounds: few start tags; few formatting tags; few different ones. What a page of
30 KB pays: 5 µs; one with 4,000 tags: 20 µs; one of 140 KB with 5,000 tags: 0.2 ms; one of 25,000 tags and more 0.25 µs
a tag where most are closed (`closed_pairs`), else 1 µs (`nesting_bound`).

Neither the parser nor `css` nor `text` recurses: depth costs time, never the C stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from .attribute_bound import affordable_attributes
from .closed_pairs import cheap_without_pairs
from .nesting_bound import COPY_BUDGET, PLAIN, WORK_BUDGET, affordable_end
from .open_elements import FORMATTING

__all__ = [
    "FEW_TAGS",
    "MAX_MARKUP",
    "MAY_FORMAT",
    "Cut",
    "bounded",
    "cut_of",
    "parse_and_tell",
    "parse_html",
    "surely_affordable",
]

#: Bytes beyond this are not parsed: the largest single pages of documentation have some 10 MB.
MAX_MARKUP = 33_554_432

#: With fewer tags than this the worst page costs 0.5 s and 400 MB, a thousand times an ordinary one.
FEW_TAGS = 2_000
#: Larger pages mostly have more tags than that: they are counted at once as arrays, which costs a page that is small
#: 20 µs in a crawl.
_SCANNED = 65_536

#: The shortest tag, `<b>`.
_TAG_BYTES = 3

#: A formatting start tag that has attributes, and those.
_FORMATTING_TAG = re.compile(rb"(?i)<(?:b|i|u|s|em|tt|big|code|font|nobr|small|strike|strong)([\s/][^>]*)")
#: Octets in which such a tag shows whether it equals another. Equal ones count three times at most.
_TAG_SHOWN = 96
_LESS, _SLASH = b"</"
#: What may follow a name in its tag, as `_tally` sees it: with bit 5 set, so a few others as well.
_AFTER_NAME = sorted({octet | 32 for octet in b" \t\n\f\r/"})
#: Whether two octets begin a formatting start tag that may have attributes: a name of one letter and what may follow
#: it, or the first two letters of a longer name. More pass than are (`col`, `form`): an overestimate.
MAY_FORMAT = np.zeros(1 << 16, np.bool_)
MAY_FORMAT[[letter << 8 | end for letter in b"bisu" for end in _AFTER_NAME]] = True
MAY_FORMAT[[int.from_bytes(start) for start in (b"bi", b"co", b"em", b"fo", b"no", b"sm", b"st", b"tt")]] = (
    True
)


def parse_html(markup: bytes | str) -> LexborHTMLParser:
    """The tree of UTF-8 `markup`, cut where `cut_of` says. Never raises on any bytes."""
    return parse_and_tell(markup)[0]


def parse_and_tell(markup: bytes | str) -> tuple[LexborHTMLParser, Cut | None]:
    """The tree, and where the markup was cut if it was.

    Mutation events are off: they serve scripts, and building a tree without them is a fifth faster.
    """
    raw = markup if isinstance(markup, bytes) else markup.encode("utf-8", "replace")
    cut = cut_of(raw)
    return LexborHTMLParser(
        raw if cut is None else raw[: cut.at], options=LexborDocumentOptions.WO_EVENTS
    ), cut


def bounded(markup: bytes) -> bytes:
    """`markup`, or the longest start of it whose parsing stays within the budgets."""
    cut = cut_of(markup)
    return markup if cut is None else markup[: cut.at]


@dataclass(frozen=True, slots=True)
class Cut:
    """From where markup is not parsed, in octets, and what would cost too much there."""

    at: int
    why: str

    def __str__(self) -> str:
        return f"markup not read from octet {self.at:,} on: {self.why}"


def cut_of(markup: bytes) -> Cut | None:
    """Where parsing has to end to stay within the budgets; None for all but hostile and broken pages."""
    if len(markup) > MAX_MARKUP:
        return cut_of(markup[:MAX_MARKUP]) or Cut(MAX_MARKUP, "longer than any page")
    at = affordable_attributes(markup)
    deep = _affordable_tags(markup if at is None else markup[:at])
    if deep is not None:
        return Cut(deep, "tags too deep, or formatting left open too often")
    return None if at is None else Cut(at, "too many attributes on a tag")


def _affordable_tags(markup: bytes) -> int | None:
    size = len(markup)
    if size <= _TAG_BYTES * FEW_TAGS:
        return None
    # Leaving octets out is the fastest count of a few: it leaps from one to the next, and ends with the first too many.
    if size <= _SCANNED and size - len(markup.replace(b"<", b"", FEW_TAGS + 1)) <= FEW_TAGS:
        return None
    octets = np.frombuffer(markup, np.uint8)
    opening = octets == _LESS
    tags = int(np.count_nonzero(opening))
    if tags <= FEW_TAGS:
        return None
    # End tags open nothing, and each walks no further than what is open: with few start tags as many ends are cheap.
    ends = int(np.count_nonzero(opening[:-1] & (octets[1:] == _SLASH)))
    if tags <= 2 * FEW_TAGS and tags - ends <= FEW_TAGS:
        return None
    starts, formatting = _tally(octets, opening)
    return None if surely_affordable(markup, starts, formatting) else affordable_end(markup)


def surely_affordable(markup: bytes, starts: int, formatting: NDArray[np.intp]) -> bool:
    """Whether the tree of a page with so many start tags stays within the budgets; False: `cut_of` has to say.

    `formatting`: where formatting start tags with attributes begin, and maybe others (`MAY_FORMAT`).
    """
    kinds = 3 * (len(FORMATTING) + len(formatting) + 3)
    if kinds * starts > 2 * COPY_BUDGET:
        kinds = 3 * (len(FORMATTING) + _kinds(markup, formatting))
    # Not every tag begins a block: twice the budget still keeps the promise.
    cheap_to_copy = kinds * starts <= 2 * COPY_BUDGET
    cheap_to_nest = starts * starts // 2 <= WORK_BUDGET
    return (cheap_to_copy and cheap_to_nest) or cheap_without_pairs(markup)


def _tally(octets: NDArray[np.uint8], opening: NDArray[np.bool_]) -> tuple[int, NDArray[np.intp]]:
    """Start tags, and where formatting start tags with attributes begin, and some others."""
    # The last three octets can begin no tag that has a name and an end.
    at = np.flatnonzero(opening[:-3])
    first, second = octets[at + 1], octets[at + 2]
    starts = len(at) - int(np.count_nonzero(first == _SLASH)) + 3
    pairs = (first | 32).astype(np.uint16) << 8 | second | 32
    return starts, at[MAY_FORMAT[pairs]]


def _kinds(markup: bytes, starts: NDArray[np.intp]) -> int:
    """How many different formatting tags with attributes are among the tags that begin at `starts`, at most."""
    different: set[bytes] = set()
    unknown = 0
    for at in starts.tolist():
        tag, end, _ = markup[at : at + _TAG_SHOWN].partition(b">")
        if tag in different or (found := _FORMATTING_TAG.match(tag)) is None:
            continue
        if end and PLAIN.fullmatch(found[1]):
            different.add(tag)
        else:
            unknown += 1
    return len(different) + unknown
