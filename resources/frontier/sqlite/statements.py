"""SQL by name: every statement longer than a line stands in a `.sql` file beside the module that runs it.

A file holds statements headed by `-- name: <name>`; lines before the first head are its introduction.
Cost: each file is read once, on import of the module that asks for it.
"""

from __future__ import annotations

from importlib import resources

__all__ = ["read_statements"]

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
