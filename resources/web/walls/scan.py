"""Many patterns over one text in one pass: which of them can match at all.

The tables hold some 400 patterns; searching a short page for each costs milliseconds. RE2 reads the text once
for the words that the patterns need (3 µs a KB), looks closer for those that have theirs, and names the
candidates; only those are searched for with Python's own pattern. (One automaton for all patterns is as fast,
but takes 0.3 s to grow in every process.) The scan is a superset: it never hides a match. What RE2 cannot express is always a candidate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import re2

__all__ = ["Scan", "in_re2_syntax"]

#: RE2's classes are ASCII; these are at least as wide as Python's for text.
_WIDER = {
    "w": r"\w\x{80}-\x{10ffff}",
    "s": r"\s\x{1c}-\x{1f}\x{0b}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}",
    "d": r"\d\pN",
}
#: RE2's \W, \S and \D are wider than Python's already.
_INEXPRESSIBLE = re.compile(r"\(\?P=|\\[1-9]|[*+?}]\+|\\Z")
_LOOKING = re.compile(r"(?<!\\)\(\?<?[=!]")


def _without_lookarounds(pattern: str) -> str:
    """They only narrow what a pattern matches."""
    while (found := _LOOKING.search(pattern)) is not None:
        at, depth = found.end(), 1
        while depth:
            if pattern[at] == "\\":
                at += 1
            else:
                depth += (pattern[at] == "(") - (pattern[at] == ")")
            at += 1
        pattern = pattern[: found.start()] + pattern[at:]
    return pattern


def in_re2_syntax(pattern: str) -> str | None:
    """`pattern` in RE2 syntax, matching at least what it matches; None if that cannot be said."""
    pattern = _without_lookarounds(pattern)
    if _INEXPRESSIBLE.search(pattern):
        return None
    out: list[str] = []
    in_class = False
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == "\\" and position + 1 < len(pattern):
            letter = pattern[position + 1]
            position += 2
            if letter in "bB" and not in_class:
                continue  # a boundary only narrows
            if letter in _WIDER:
                out.append(_WIDER[letter] if in_class else f"[{_WIDER[letter]}]")
            else:
                out.append(char + letter)
            continue
        if char == "[" and not in_class:
            in_class = True
            if pattern[position + 1 : position + 2] == "^":
                out.append("[^")
                position += 2
                # A negated class must not be widened: wider inside is narrower outside.
                end = pattern.index("]", position + 1)
                out.append(pattern[position : end + 1])
                position = end + 1
                in_class = False
                continue
        elif char == "]":
            in_class = False
        out.append(char)
        position += 1
    return "".join(out)


class _Pattern(Protocol):
    """What a scan needs to know: as `re.Pattern` and `Expression` have it."""

    @property
    def pattern(self) -> str: ...

    @property
    def flags(self) -> int: ...


class Scan:
    """`candidates(text)`: indices of the patterns that may be found in `text`, ascending.

    They are compiled when they are first asked for (10 to 30 ms for those of a table): most processes see few pages
    that need all of them.
    """

    def __init__(self, patterns: Sequence[_Pattern]) -> None:
        self._patterns = tuple(patterns)
        self._ready: _Ready | None = None

    def __len__(self) -> int:
        return len(self._patterns)

    @property
    def unscanned(self) -> tuple[int, ...]:
        """Patterns that are always candidates."""
        return tuple(self._compiled().always)

    def candidates(self, text: str) -> list[int]:
        if not text:
            return []
        ready = self._ready or self._compiled()
        found = [ready.numbers[n] for n in ready.filter.Match(text) or ()] if ready.numbers else ()
        return sorted([*found, *ready.always]) if found else ready.always

    def _compiled(self) -> _Ready:
        if self._ready is None:
            self._ready = _compile(self._patterns)
        return self._ready


class _Ready(NamedTuple):
    """`numbers`: of the patterns in the filter; `always`: those it does not hold."""

    filter: re2.Filter
    numbers: list[int]
    always: list[int]


def _compile(patterns: Sequence[_Pattern]) -> _Ready:
    ready = _Ready(re2.Filter(), [], [])
    for number, pattern in enumerate(patterns):
        text = in_re2_syntax(pattern.pattern)
        flags = "".join(f for f, on in (("m", re.M), ("s", re.S)) if pattern.flags & on)
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = not pattern.flags & re.I
        try:
            if text is None:
                raise re2.error("not expressible")
            ready.filter.Add(f"(?{flags}:{text})" if flags else text, options)
        except re2.error:
            ready.always.append(number)
        else:
            ready.numbers.append(number)
    if ready.numbers:
        ready.filter.Compile()
    return ready
