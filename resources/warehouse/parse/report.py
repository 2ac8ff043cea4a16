"""What a parse step tells of a domain."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["ParseError", "ParseReport"]


class ParseError(Exception):
    """The parse step of a domain cannot go on; nothing of it is staged, and the next one starts over."""


@dataclass(slots=True)
class ParseReport:
    """What a parse step did. `rows` by table (`item.<type>` for items); `batch` is empty if nothing changed."""

    domain: str
    parsed: int = 0
    unchanged: int = 0
    gone: int = 0
    missing: int = 0
    errors: int = 0
    lost: list[tuple[str, str, str]] = field(default_factory=list)
    """(url, parser_crash or parser_hang, what happened)"""
    rows: dict[str, int] = field(default_factory=dict)
    body_bytes: int = 0
    seconds: float = 0.0
    """From its first look at the stores to its batch; domains parsed together share some of that time."""
    batch: str = ""
    extraction_version: str = ""

    @property
    def items(self) -> int:
        return sum(count for table, count in self.rows.items() if table.startswith("item."))
