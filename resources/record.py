"""Value objects that are made several times a page: frozen to the type checker, plain to the interpreter.

A frozen dataclass sets each field through `object.__setattr__`: 3.9 µs for the 26 fields of a page's head, 0.7 without.
A crawl makes ten such values a page. `record` is read by a type checker as `dataclasses.dataclass` itself, so assigning
to a field of a frozen one is an error wherever the code is checked; at run time the class is an ordinary one with
slots, compared and hashed by value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    T = TypeVar("T")

    def record(*, frozen: bool, slots: bool):
        """A class decorator, called as `dataclass(frozen=True, slots=True)` is."""
        return dataclass(slots=slots, unsafe_hash=frozen)


__all__ = ["record"]
