"""The parts of a URL that could be a session id: each query parameter, `;name=value`, a token in the path.

A *slot* is such a part; its *rest* is the URL without it. Two URLs of one rest are *twins* in that slot. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["PATH_TOKEN_BYTES", "Slot", "has_slots", "is_token", "slots", "with_value"]

#: More parameters than this in one query are not looked at: the cost of a page stays bounded.
MAX_PARAMETERS = 6
#: Where a path slot stood in its rest. Canonical URLs hold no braces in paths: the parser escapes them.
HOLE = "{}"

# Digits and letters mixed, or hexadecimal, or a long number: what no person would write into a URL.
_TOKEN = re.compile(r"(?:(?=[A-Za-z_]*\d)(?=\d*[A-Za-z])[A-Za-z0-9_]{8,}|[0-9a-fA-F]{8,}|\d{10,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\Z")  # fmt: skip
# A path segment needs more letters to be suspicious: article ids of 8 characters are common.
_PATH_TOKEN = re.compile(r"/(\(S\([^/]+\)\)|(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]{16,})(?=/)")
#: The same in a body.
PATH_TOKEN_BYTES = re.compile(_PATH_TOKEN.pattern.encode())
_MATRIX = re.compile(r";([A-Za-z_][\w.-]*)=([^;/?&]*)")


@dataclass(frozen=True, slots=True)
class Slot:
    """One part. `name`: `?sid`, `;jsessionid` or `/` and the number of the segment."""

    name: str
    value: str
    rest: str


def is_token(value: str) -> bool:
    """Whether `value` looks like an identifier made by a machine."""
    return _TOKEN.match(value) is not None


def has_slots(url: str) -> bool:
    """A cheap test that is never wrong when it says no. 0.1 to 1 µs."""
    return "?" in url or ";" in url or _PATH_TOKEN.search(url, 8) is not None


def slots(url: str) -> list[Slot]:
    """Every slot of a canonical URL, in order. 1 to 3 µs."""
    found: list[Slot] = []
    head, mark, query = url.partition("?")
    if ";" in head:
        for match in _MATRIX.finditer(head):
            rest = head[: match.start()] + head[match.end() :] + mark + query
            found.append(Slot(";" + match[1].lower(), match[2], rest))
    if len(head) > 32 and _PATH_TOKEN.search(head, 8) is not None:
        for match in _PATH_TOKEN.finditer(head, head.find("/", 8)):
            number = head.count("/", 8, match.start() + 1)
            rest = head[: match.start(1)] + HOLE + head[match.end(1) :] + mark + query
            found.append(Slot(f"/{number}", match[1], rest))
    if mark:
        pairs = query.split("&")
        if len(pairs) <= MAX_PARAMETERS:
            for index, pair in enumerate(pairs):
                name, equals, value = pair.partition("=")
                if equals and name:
                    left = "&".join(pairs[:index] + pairs[index + 1 :])
                    found.append(Slot("?" + name, value, f"{head}?{left}" if left else head))
    return found


def with_value(slot: Slot, value: str) -> str:
    """The URL all twins stand for: without the parameter, or with `value` in the path, which cannot go without."""
    return slot.rest.replace(HOLE, value, 1) if slot.name.startswith("/") else slot.rest
