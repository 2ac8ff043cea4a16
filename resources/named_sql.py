"""SQL by name: every statement longer than a line stands in a `.sql` file beside the module that runs it.

A file holds statements headed by `-- name: <name>`; lines before the first head are its introduction.
"""

from __future__ import annotations

__all__ = ["split_named"]

_HEAD = "-- name: "


def split_named(script: str, file_name: str) -> dict[str, str]:
    """The statements of a script by name, without the semicolon at their end; ValueError for a name given twice."""
    statements: dict[str, str] = {}
    for block in ("\n" + script).split("\n" + _HEAD)[1:]:
        name, _, body = block.partition("\n")
        if name in statements:
            raise ValueError(f"{file_name}: two statements are named {name!r}")
        statements[name] = body.strip().rstrip(";")
    return statements
