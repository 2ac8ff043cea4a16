"""SQL by name: a `.sql` file of this package holds statements headed by `-- name: <name>`."""

from __future__ import annotations

from importlib import resources

__all__ = ["read_statements", "read_text"]


def read_text(file_name: str) -> str:
    """A whole file."""
    return resources.files(__package__).joinpath(file_name).read_text(encoding="utf-8")


def read_statements(file_name: str) -> dict[str, str]:
    """The statements of one file by name; ValueError for a name given twice."""
    statements: dict[str, str] = {}
    for block in ("\n" + read_text(file_name)).split("\n-- name: ")[1:]:
        name, _, body = block.partition("\n")
        if name in statements:
            raise ValueError(f"{file_name}: two statements are named {name!r}")
        statements[name] = body.strip().rstrip(";")
    return statements
