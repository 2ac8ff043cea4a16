"""The one error of reading a value."""

from __future__ import annotations

__all__ = ["BadValue"]


class BadValue(ValueError):
    """A text that is not what its field says; the message tells people why, without the URL."""
