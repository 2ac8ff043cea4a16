"""What changed between two versions of a robots.txt, as text for a person."""

from __future__ import annotations

import difflib
from collections import Counter

from .lines import decode, within_limit

__all__ = ["diff"]

#: Aligning lines is quadratic at worst; longer files are compared as bags of lines, which is linear.
_ALIGNED_LINES = 1_000

#: A summary goes into metadata and messages; nobody reads more.
_SHOWN_LINES = 200


def _lines(body: bytes) -> list[str]:
    text, _ = decode(within_limit(body))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removesuffix("\n").split("\n") if text else []


def diff(old: bytes, new: bytes) -> str:
    """Lines taken out (`-`) and put in (`+`), empty when the lines are the same. At most 200 lines are
    shown, the rest is counted. Files of more than 1,000 lines are compared without regard to order."""
    before, after = _lines(old), _lines(new)
    if before == after:
        return ""
    if max(len(before), len(after)) <= _ALIGNED_LINES:
        changes = list(difflib.unified_diff(before, after, "before", "after", lineterm="", n=2))
    else:
        gone, come = Counter(before), Counter(after)
        changes = [f"-{line}" for line in (gone - come).elements()]
        changes += [f"+{line}" for line in (come - gone).elements()]
        if not changes:
            changes = ["the same lines in another order"]
    if len(changes) > _SHOWN_LINES:
        hidden = len(changes) - _SHOWN_LINES
        changes = [*changes[:_SHOWN_LINES], f"… and {hidden} more lines"]
    return "\n".join(changes)
