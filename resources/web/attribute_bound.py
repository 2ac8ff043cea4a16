"""How far markup may be parsed before the attributes of its tags cost too much.

The parser compares each attribute of a tag with all before it: 10,000 on one tag take 0.2 s, 60,000 take ten. Where a
tag ends cannot be told by looking for `>`, since attribute values may hold it, and telling all values apart costs as
much as parsing. But some are certain: a `>` is inside a value only if the last quotation mark of a kind before it is
one that opens a value, which stands behind `=`. Between two certain ones lies at most one start tag. So it is enough
to leap from certain end to certain end; only where none is within reach, the words in between are counted, which a
start tag there has at least as many of as attributes.

Costs 10 µs for an ordinary page of 100 KB, nothing for pages below `SMALL`.
"""

from __future__ import annotations

import re

__all__ = ["SMALL", "affordable_attributes", "end_beyond"]

#: Smaller markup holds 10,000 attributes at most: 0.2 s.
SMALL = 32_768
#: Comparisons of attributes that a page may cost: 1.75 ns each, so a third of a second.
BUDGET = 200_000_000
#: Octets of one attribute, at least, where there are thousands with different names.
_AN_ATTRIBUTE = 3.5
#: The leap: so long that tags within it stay inside the budget, all of them together. Shorter ones for larger pages.
_LONGEST_LEAP, _SHORTEST_LEAP = 16_384, 2_048
#: `>` at the end of a leap that are tried before the next ones beyond it are.
_TRIES = 8
_START = re.compile(rb"<[a-zA-Z]")
_WORDS = re.compile(rb"[^\s/\"'=<]+")
_BLANKS = b" \t\n\f\r"
#: Blanks behind `=` that are looked through; behind more any quotation mark may open a value.
_FEW_BLANKS = 64
_EQUALS = 61


def affordable_attributes(markup: bytes) -> int | None:
    """Where the tag begins that is too much; None when all are affordable."""
    size = len(markup)
    if size <= SMALL:
        return None
    leap = int(BUDGET * _AN_ATTRIBUTE**2 / size)
    leap = max(_SHORTEST_LEAP, min(_LONGEST_LEAP, leap))
    spent = 0
    here = 0
    while here + leap < size:
        there = _end_within(markup, here, here + leap)
        if there is None:
            there = end_beyond(markup, here, here + leap)
            # The ends that were leapt over: the stretch begins at the last of them.
            while (nearer := end_beyond(markup, here, here + 1)) < there:
                here = nearer
            start = _START.search(markup, here, there)
            if start is not None:
                spent += _most_attributes(markup, start.start(), there) ** 2
                if spent > BUDGET:
                    return start.start()
        here = there
    return None


def _end_within(markup: bytes, after: int, until: int) -> int | None:
    """A certain `>` behind `after` and before `until`, one of the last; None where the last few are not certain."""
    until += 1
    for _ in range(_TRIES):
        until = markup.rfind(b">", after + 1, until)
        if until < 0:
            return None
        if not (
            _opens(markup, markup.rfind(b'"', after, until))
            or _opens(markup, markup.rfind(b"'", after, until))
        ):
            return until
    return None


def end_beyond(markup: bytes, after: int, beyond: int) -> int:
    """The first certain `>` behind `beyond`; the length of the markup if there is none. `after` is a certain one."""
    find, rfind = markup.find, markup.rfind
    looked = after
    double = single = -1
    at = find(b">", beyond)
    while at >= 0:
        double = max(double, rfind(b'"', looked, at))
        single = max(single, rfind(b"'", looked, at))
        looked = at
        # None is certain before the next mark of a kind whose last one opens a value.
        if _opens(markup, double):
            at = find(b'"', at)
        elif _opens(markup, single):
            at = find(b"'", at)
        else:
            return at
        at = find(b">", at) if at >= 0 else -1
    return len(markup)


def _opens(markup: bytes, mark: int) -> bool:
    """Whether the quotation mark at this place, -1 for none, may begin an attribute's value."""
    if mark < 1:
        return False
    if markup[mark - 1] > 32:
        return markup[mark - 1] == _EQUALS
    before = markup[max(0, mark - _FEW_BLANKS) : mark].rstrip(_BLANKS)
    return before[-1] == _EQUALS if before else True


def _most_attributes(markup: bytes, start: int, stop: int) -> int:
    """At least as many as a start tag in that stretch has."""
    return len(set(_WORDS.findall(markup, start + 1, stop)))
