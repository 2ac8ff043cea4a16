"""The SQL of this package by name, and lists for `IN (...)`.

Cost: each file is read once, on import of the module that asks for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from importlib import resources
from typing import TypeVar

from resources.named_sql import split_named

__all__ = ["in_lists", "read_statements"]

_Value = TypeVar("_Value")

#: Few sizes, so that each statement is prepared once; more values per statement gain nothing.
_LIST_SIZES = (1, 8, 64, 256)
_MARKS = {size: ",".join("?" * size) for size in _LIST_SIZES}


def read_statements(file_name: str) -> dict[str, str]:
    """The statements of one `.sql` file of this package by name; ValueError for a name given twice."""
    text = resources.files(__package__).joinpath(file_name).read_text(encoding="utf-8")
    return split_named(text, file_name)


def in_lists(values: Collection[_Value]) -> Iterator[tuple[str, list[_Value]]]:
    """Cut values into lists for `IN (...)`: the question marks and that many values.

    A short list is filled up with its last value, which changes nothing in what `IN` finds.
    """
    rest = list(values)
    largest = _LIST_SIZES[-1]
    for start in range(0, len(rest), largest):
        chunk = rest[start : start + largest]
        size = next(size for size in _LIST_SIZES if size >= len(chunk))
        yield _MARKS[size], chunk + chunk[-1:] * (size - len(chunk))
