"""A benchmark that measured nothing has failed: said where the count is known, not by a division somewhere later."""

from __future__ import annotations

__all__ = ["measured"]


def measured(count: int, what: str, expected: int | None = None) -> int:
    """`count` itself. Raises RuntimeError when it is 0, or other than `expected` where that is known."""
    if count == 0:
        raise RuntimeError(f"{what}: 0 pages; nothing was measured, so there is no figure")
    if expected is not None and count != expected:
        raise RuntimeError(f"{what}: {count:,} pages of {expected:,}; a figure for a part would mislead")
    return count
