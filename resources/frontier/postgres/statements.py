"""The SQL of this package, whole or by name."""

from __future__ import annotations

from importlib import resources

from resources.named_sql import split_named

__all__ = ["read_statements", "read_text"]


def read_text(file_name: str) -> str:
    """A whole file."""
    return resources.files(__package__).joinpath(file_name).read_text(encoding="utf-8")


def read_statements(file_name: str) -> dict[str, str]:
    """The statements of one file by name; ValueError for a name given twice."""
    return split_named(read_text(file_name), file_name)
