"""Tokens in, entries out: what a reader of `urlset` and a reader of feeds have in common.

A reader collects at most one value at a time, of at most `Limits.value` characters; a value cut in two by the end
of the document is dropped, what is whole of its entry counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from .addresses import Addresses
from .document import Entry, Limits, Problems
from .elements import CORE, Elements
from .markup import CDATA, CLOSE, EMPTY, LEAF, OPEN, TEXT, Markup, Token

__all__ = ["EntryReader"]


class EntryReader(ABC):
    """`take` each token in turn, then `end`; both give the entries that are complete by then."""

    def __init__(
        self, markup: Markup, addresses: Addresses, limits: Limits, problems: Problems, core: str = CORE
    ) -> None:
        self._markup, self._addresses = markup, addresses
        self._limits, self._problems = limits, problems
        self._elements = Elements(limits.depth, core)
        #: The value being collected: its name, where its element stands on the stack (-1: none), its text so far.
        self._value_name = ""
        self._value_at = -1
        self._parts: list[str] = []
        self._collected = 0

    def take(self, token: Token) -> Iterator[Entry]:
        kind, name, source, text = token
        if kind == LEAF:
            yield from self._leaf(name, source, text)
        elif kind == CLOSE:
            yield from self._close(name)
        elif kind == OPEN:
            yield from self._open(name, source)
        elif kind == EMPTY:
            yield from self._open(name, source)
            yield from self._close(name)
        elif kind == TEXT:
            self._words(self._markup.text(text))
        elif kind == CDATA:
            self._words(text)

    def end(self) -> Iterator[Entry]:
        """The document has ended."""
        if self._value_at >= 0:
            self._problems.add("the document ends inside a value: that value is dropped")
            self._value_at = -1
        yield from self._flush()

    def _leaf(self, name: str, source: str, text: str) -> Iterator[Entry]:
        """An element with nothing but text in it."""
        yield from self._open(name, source)
        self._words(self._markup.text(text))
        yield from self._close(name)

    def _collect(self, name: str, at: int) -> None:
        self._value_name, self._value_at, self._parts, self._collected = name, at, [], 0

    def _words(self, text: str) -> None:
        if self._value_at < 0:
            self._loose(text)
        elif self._collected < self._limits.value:
            self._parts.append(text[: self._limits.value - self._collected])
            self._collected += len(text)

    @abstractmethod
    def _open(self, name: str, source: str) -> Iterator[Entry]:
        """A start tag."""

    @abstractmethod
    def _close(self, name: str) -> Iterator[Entry]:
        """An end tag."""

    @abstractmethod
    def _loose(self, text: str) -> None:
        """Text that belongs to no value."""

    @abstractmethod
    def _flush(self) -> Iterator[Entry]:
        """The entry being read has ended."""
