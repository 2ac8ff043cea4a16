"""The SQL of this package by name.

Cost: each file is read once, on import of the module that asks for it.
"""

from __future__ import annotations

from importlib import resources

from resources.named_sql import split_named

__all__ = ["marks", "read_statements"]


def read_statements(file_name: str) -> dict[str, str]:
    """The statements of one `.sql` file of this package by name; ValueError for a name given twice."""
    text = resources.files(__package__).joinpath(file_name).read_text(encoding="utf-8")
    return split_named(text, file_name)


def marks(count: int) -> str:
    """`?, ?, ?`: the parameters of an IN list."""
    return ", ".join("?" * count)
