"""SQL from the `.sql` files beside this module, by name, and identifiers made safe."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from resources.named_sql import split_named

__all__ = ["identifier", "read_script", "read_statements"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,79}")


def read_script(file_name: str) -> str:
    """A whole file."""
    return resources.files(__package__).joinpath("sql", file_name).read_text(encoding="utf-8")


@cache
def read_statements(file_name: str) -> dict[str, str]:
    """The statements of one file by name."""
    return split_named(read_script(file_name), file_name)


def identifier(name: str) -> str:
    """`name` quoted for SQL. ValueError unless it is a name a site file may give: a second lock, not the first."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no table or column name: lower-case letters, digits and _ only")
    return f'"{name}"'
