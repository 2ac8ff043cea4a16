"""A regular expression of the tables, compiled when it is first searched for.

`re` takes 0.15 s to compile the 500 of them, more than a tenth of what a process of the crawler needs to start. RE2 says
which of them may be found in a page at all (`scan`), and that needs only their text: of most, none ever is.
"""

from __future__ import annotations

import re

__all__ = ["Expression"]


class Expression:
    """`pattern` and `flags` as of `re.compile`, which raises only when it comes to it; a test compiles all."""

    __slots__ = ("_compiled", "flags", "pattern")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags
        self._compiled: re.Pattern[str] | None = None

    def __repr__(self) -> str:
        return f"Expression({self.pattern!r}, {self.flags})"

    def compiled(self) -> re.Pattern[str]:
        """As `re` has it."""
        found = self._compiled
        if found is None:
            found = self._compiled = re.compile(self.pattern, self.flags)
        return found

    def search(self, text: str) -> re.Match[str] | None:
        """The first place where it is found."""
        return self.compiled().search(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Whether it is the whole text."""
        return self.compiled().fullmatch(text)
