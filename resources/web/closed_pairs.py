"""A fast look at large markup: are its tags closed as they should be?

Most large pages are made by programs, and nest. Where a start tag is followed at once by its end tag, the pair leaves the
open elements as they were, or fewer (a start tag may end others before it, an end tag then closes nothing or one of
those). So pairs are taken out, all that there are at once, and then the pairs that stand together now, in as many rounds
as the page is deep; only what is left is looked at tag by tag. No element is open within a pair that is not counted: a
pair of round *n* holds at most *n* open elements besides those outside.

0.15 µs a tag where all are closed; `nesting_bound` takes five times as much, and more where attributes are. It says yes
only where that would find no end within the budgets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import nesting_bound
from .nesting_bound import RAW_TEXT, Unseen, doubtful_ends
from .open_elements import OpenElements, flat_tags

__all__ = ["cheap_without_pairs"]

#: Comments, raw text and tags that may go on beyond their first `>` are looked at one by one.
_MOST_LOOKED_AT = 20_000
#: A hundred octets of memory each. A page of five megabytes has some 200,000.
_MOST_TAGS = 500_000
#: A round has to take out one tag in so many; what is left then is faster one by one.
_WORTH_A_ROUND = 50
_LESS, _GREATER, _SLASH, _BANG, _QUESTION = b"<>/!?"
_IS_LETTER = np.zeros(256, np.bool_)
_IS_LETTER[list(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] = True
_ENDS_NAME = np.zeros(256, np.bool_)
_ENDS_NAME[list(b"\t\n\f\r />")] = True
_LOWER = np.frombuffer(bytes(range(256)).lower(), np.uint8)
_WORD = 8
_TAG = re.compile(rb"</?([a-zA-Z][^\t\n\f\r />]*)([^>]*)")

Octets = NDArray[np.uint8]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.uint64]


def cheap_without_pairs(markup: bytes) -> bool:
    """Whether parsing surely stays within the budgets of `nesting_bound`. False: that has to say where they end."""
    doubtful = doubtful_ends(markup, _MOST_LOOKED_AT)
    if b"\0" in markup or len(doubtful) > _MOST_LOOKED_AT:
        return False
    tags = _tags(markup, np.frombuffer(markup, np.uint8), doubtful)
    if tags is None or (seen := _seen(markup, tags)) is None:
        return False
    flat = tags.among(flat_tags(markup))
    rest = np.flatnonzero(tags.named & ~flat & (~tags.ending | seen))
    left, rounds = _without_pairs(tags, rest)
    return _cheap(markup, tags, left, rounds)


@dataclass(slots=True)
class _Tags:
    """All that begins like a tag, in order, as arrays. Names are pairs of numbers, lower case: equal only where the
    names are, as far as they are `short`: sixteen octets at most, and no element has more that pages have thousands of."""

    at: Places
    ending: Flags
    named: Flags
    """Start and end tags; the others are comments, declarations and the like."""
    doubtful: Flags
    """Their first `>` may be in a value."""
    head: Numbers
    tail: Numbers
    short: Flags

    def among(self, chosen: frozenset[bytes]) -> Flags:
        """Those with one of these names, of eight octets at most."""
        codes = np.frombuffer(b"".join(name.ljust(_WORD, b"\0") for name in chosen), "<u8")
        found: Flags = np.isin(self.head, codes) & (self.tail == 0) & self.short
        return found


def _tags(markup: bytes, octets: Octets, doubtful: set[int]) -> _Tags | None:
    """None where there are too many, or too many declarations."""
    at = np.flatnonzero(octets[:-1] == _LESS)
    if len(at) > _MOST_TAGS:
        return None
    behind = octets[at + 1]
    at = at[_IS_LETTER[behind] | (behind == _SLASH) | (behind == _BANG) | (behind == _QUESTION)]
    declarations = np.flatnonzero(octets[at + 1] == _BANG)
    if len(declarations) > _MOST_LOOKED_AT:
        return None
    # Up to the first `>`, all is attributes; what stands in comments and data is looked at.
    closed = np.ones(len(at), np.intp)
    closed[declarations] = [
        not markup.startswith((b"<!--", b"<![CDATA["), here) for here in at[declarations].tolist()
    ]
    brackets = np.flatnonzero(octets == _GREATER)
    bracket = np.searchsorted(brackets, at)
    before = np.cumsum(closed) - closed
    first = np.flatnonzero(np.diff(bracket, prepend=-1))
    within = before != np.repeat(before[first], np.diff(first, append=len(at)))
    at, bracket = at[~within], bracket[~within]
    ending = octets[at + 1] == _SLASH
    name = at + 1 + ending
    head, tail, short = _names(octets, name)
    return _Tags(
        at, ending, _IS_LETTER[octets[np.minimum(name, len(octets) - 1)]],
        np.isin(bracket, np.searchsorted(brackets, sorted(doubtful))), head, tail, short,
    )  # fmt: skip


def _names(octets: Octets, at: Places) -> tuple[Numbers, Numbers, Flags]:
    """The names that begin at these places: their first eight octets, the next eight, whether that is all of them."""
    padded = np.concatenate([octets, np.zeros(2 * _WORD + 1, np.uint8)])
    # A number at every octet: eight octets are fetched at once.
    words = np.ndarray(len(octets) + _WORD + 1, "<u8", padded.data, strides=(1,))
    head, unended = _until_end(words[at])
    tail = np.zeros_like(head)
    longer = np.flatnonzero(unended)
    tail[longer], unended_still = _until_end(words[at[longer] + _WORD])
    beyond = longer[unended_still]
    short = np.ones(len(at), np.bool_)
    short[beyond] = _ENDS_NAME[padded[at[beyond] + 2 * _WORD]]
    return head, tail, short


def _until_end(words: Numbers) -> tuple[Numbers, Flags]:
    """Lower case up to the octet that ends the name, zero from there on; whether there is none."""
    octets = words.view(np.uint8)
    ends = _ENDS_NAME[octets].view("<u8")
    # The lowest bit that is set, less one: all bits of the octets before it, and all there are where none is.
    before = (ends & (~ends + 1)) - 1
    return _LOWER[octets].view("<u8") & before, ends == 0


def _seen(markup: bytes, tags: _Tags) -> Flags | None:
    """Which end tags the parser surely sees; None where there is too much that may hide them."""
    raw = tags.among(frozenset(RAW_TEXT)) & tags.named & ~tags.ending
    hiding = np.flatnonzero(raw | ~tags.named | tags.doubtful)
    if len(hiding) > _MOST_LOOKED_AT:
        return None
    unseen = Unseen(markup)
    seen = np.ones(len(tags.at), np.bool_)
    for number in hiding.tolist():
        before, here = unseen.until, int(tags.at[number])
        if tags.named[number]:
            found = _TAG.match(markup, here)
            assert found is not None
            if tags.doubtful[number]:
                unseen.may_go_on(here, found.end())
            if raw[number]:
                unseen.raw_text(found[1].lower(), here, found.end())
        else:
            unseen.declaration(here)
        if unseen.until > before:
            seen[number : int(np.searchsorted(tags.at, unseen.until))] = False
    return seen


def _without_pairs(tags: _Tags, rest: Places) -> tuple[Places, int]:
    """Which of the tags `rest` are left, and in how many rounds the others went."""
    ending, short = tags.ending[rest], tags.short[rest]
    head, tail = tags.head[rest], tags.tail[rest]
    rounds = 0
    while len(rest) > 1:
        pair = ~ending[:-1] & ending[1:] & short[:-1] & (head[:-1] == head[1:]) & (tail[:-1] == tail[1:])
        if np.count_nonzero(pair) * _WORTH_A_ROUND < len(rest):
            break
        keep = np.ones(len(rest), np.bool_)
        keep[:-1] &= ~pair
        keep[1:] &= ~pair
        rest, ending, short = rest[keep], ending[keep], short[keep]
        head, tail = head[keep], tail[keep]
        rounds += 1
    return rest, rounds


def _cheap(markup: bytes, tags: _Tags, left: Places, within: int) -> bool:
    """Whether the tags that are left stay within the budgets. Each stands for itself and those taken out behind it, at
    which at most `within` more elements are open."""
    elements = OpenElements()
    stack, formatting = elements.stack, elements.formatting
    work = copied = len(tags.at) * within
    stands_for = np.diff(left, append=len(tags.at)).tolist()
    for here, ends, doubtful, count in zip(
        tags.at[left].tolist(), tags.ending[left].tolist(), tags.doubtful[left].tolist(), stands_for, strict=True
    ):  # fmt: skip
        found = _TAG.match(markup, here)
        assert found is not None
        name = found[1].lower()
        if ends:
            elements.end(name)
        else:
            elements.start(name, found[2], sure=not doubtful)
        work += count * len(stack)
        copied += count * len(formatting)
        if work > nesting_bound.WORK_BUDGET or copied > nesting_bound.COPY_BUDGET:
            return False
    return work <= nesting_bound.WORK_BUDGET and copied <= nesting_bound.COPY_BUDGET
