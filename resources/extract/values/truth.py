"""Truth from text: a field says which words mean yes."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["read_boolean"]


def read_boolean(text: str | None, true_values: Iterable[str]) -> bool:
    """Whether `text` is one of `true_values`, without regard to case and blanks; None (nothing found) is False.

    Terms of schema.org count by their name: `https://schema.org/InStock` is `instock`.
    """
    if text is None:
        return False
    word = " ".join(text.split()).casefold()
    if word.startswith(("https://schema.org/", "http://schema.org/")):
        word = word.rpartition("/")[2]
    return any(word == value.casefold() for value in true_values)
