"""Can any of these patterns be found in a text at all? One pass over the text as it stands in the page.

Of each pattern the longest piece that holds no gap (`.{0,60}`, `\\w+`) is kept: who finds the pattern finds its piece.
The pieces together are a small RE2 automaton, and its answer is yes or no: it keeps no account of which words it has
seen, as `scan` must, so an ordinary page meets few states that are new (they cost more than all else). The text need
not be `normal`: a blank of a pattern fits any blanks, an apostrophe any apostrophe, a letter both its cases.

A superset: what a pattern finds in the normal text is never missed. Cost: 2 to 3 ns an octet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from hashlib import sha256
from typing import Protocol, cast

import re2

from .piece_table import PIECES

__all__ = ["BLANKS", "Pieces"]

#: Lower case of one character with more than one: RE2 knows no such pairs.
_DOTTED_I = "İ"
#: What `str.split` splits at, as members of a class in RE2 syntax.
BLANKS = r"\s\x{1c}-\x{1f}\x{0b}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
#: Written for the class of blanks in `piece_table`.
_BLANK = "␣"
_Search = Callable[[bytes], list[int] | None]


class _Pattern(Protocol):
    @property
    def pattern(self) -> str: ...

    @property
    def flags(self) -> int: ...


class Pieces:
    """The pieces of many patterns, `anywhere` in a text or `at_words` only: where no letter or digit comes before them.

    The latter are an automaton of their own: within a word it rests, so there are hardly any states. They are compiled
    when they are first asked for: 8 ms for those of a table.
    """

    def __init__(self, anywhere: Iterable[_Pattern], at_words: Iterable[_Pattern] = ()) -> None:
        self._anywhere = tuple(anywhere)
        self._at_words = tuple(at_words)
        self._searches: tuple[_Search, ...] | None = None

    def found(self, text: str) -> bool:
        """Whether any of the patterns may be found in `normal(text)`."""
        return _DOTTED_I in text or self.found_in(text.encode("utf-8", "replace"))

    def found_in(self, text: bytes) -> bool:
        """The same, of UTF-8 that holds no dotted capital I."""
        if self._searches is None:
            self._searches = self._compiled()
        return any(search(text) for search in self._searches)

    def _compiled(self) -> tuple[_Search, ...]:
        begun, others = PIECES.get(self.digest) or self.read()
        # RE2's \\b knows ASCII: a letter beyond it counts as none, and more is found than there is.
        at_words = f"\\b(?:{begun})" if begun else ""
        return tuple(_search(each.replace(_BLANK, BLANKS)) for each in (at_words, others) if each)

    @cached_property
    def digest(self) -> str:
        """Of the patterns: another for others."""
        told = [(each.pattern, each.flags) for group in (self._at_words, self._anywhere) for each in group]
        return sha256(f"{len(self._at_words)} {told}".encode()).hexdigest()[:16]

    def read(self) -> tuple[str, str]:
        """The pieces that begin a word, and others, as `piece_table` has them. ValueError as by `gaps.pieces`."""
        from .gaps import pieces  # not needed as long as the table is that of the patterns

        begun: list[str] = []
        others: list[str] = []
        for each in self._at_words:
            some, rest = pieces(each.pattern, each.flags, at_words=True)
            begun += some
            others += rest
        for each in self._anywhere:
            others += pieces(each.pattern, each.flags)[1]
        return "|".join(begun).replace(BLANKS, _BLANK), "|".join(others).replace(BLANKS, _BLANK)


def _search(pattern: str) -> _Search:
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = 16 << 20
    # A set of one: the only kind of search that does not look for the place as well.
    found = re2.Set.SearchSet(options)
    found.Add(pattern)
    found.Compile()
    return cast("_Search", found.Match)
