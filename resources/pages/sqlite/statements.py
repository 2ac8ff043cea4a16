"""SQL by name: statements stand in `.sql` files beside the modules that run them.

A file holds statements headed by `-- name: <name>`; lines before the first head are its introduction.
Cost: each file is read once, on import of the module that asks for it.
"""

from __future__ import annotations

from importlib import resources

__all__ = ["marks", "read_statements"]

_HEAD = "-- name: "


def read_statements(file_name: str) -> dict[str, str]:
    """The statements of one `.sql` file of this package by name; ValueError for a name given twice."""
    text = resources.files(__package__).joinpath(file_name).read_text(encoding="utf-8")
    statements: dict[str, str] = {}
    for block in ("\n" + text).split("\n" + _HEAD)[1:]:
        name, _, body = block.partition("\n")
        if name in statements:
            raise ValueError(f"{file_name}: two statements are named {name!r}")
        statements[name] = body.strip().rstrip(";")
    return statements


def marks(count: int) -> str:
    """`?, ?, ?`: the parameters of an IN list."""
    return ", ".join("?" * count)
