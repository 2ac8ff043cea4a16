"""The two checks that clear an ordinary page in a few microseconds, on bytes or text, without a parser."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import TypeVar

from .page import normal
from .phrases import SEPARATOR, TITLES
from .scan import Scan

__all__ = ["TITLE_SCAN", "has_content", "title_segments", "wall_title"]

T = TypeVar("T", str, bytes)

#: A wall has neither: counted in measured pages of documentation, shops and news, and in block pages.
_MANY_LINKS = 24
_MANY_PARAGRAPHS = 12
#: Below this a page is looked at whole; parsing it costs less than being wrong.
_SMALL = 3000
#: Which of the patterns in `TITLES` may fit a title at all.
TITLE_SCAN = Scan([phrase.pattern for phrase in TITLES])
_MAX_TITLE = 400


def has_content(body: bytes | str) -> bool:
    """Many links or many paragraphs. Stops reading as soon as there are enough."""
    if len(body) < _SMALL:
        return False
    if isinstance(body, bytes):
        return _has(body.find, b"<a ", _MANY_LINKS) or _has(body.find, b"<p>", _MANY_PARAGRAPHS)
    return _has(body.find, "<a ", _MANY_LINKS) or _has(body.find, "<p>", _MANY_PARAGRAPHS)


def _has(find: Callable[[T, int], int], mark: T, many: int) -> bool:
    """Whether `mark` is found so many times. (`split` would copy all that comes after.)"""
    at = -1
    for _ in range(many):
        at = find(mark, at + 1)
        if at < 0:
            return False
    return True


def wall_title(body: bytes | str) -> bool:
    """Whether the title, or a segment of it, is one walls have."""
    title = _raw_title(body)
    # A segment has no more than its title: what no pattern may fit in the whole, none fits in a part.
    candidates = TITLE_SCAN.candidates(title)
    if not candidates:
        return False
    segments = title_segments(title)[-6:]
    return any(TITLES[number].pattern.fullmatch(segment) for number in candidates for segment in segments)


def title_segments(title: str) -> list[str]:
    """The title as a whole and its parts, at most six; `title` is normal (lower case, single blanks)."""
    parts = SEPARATOR.split(title)
    segments = [part for part in parts if part][:6]
    return segments if len(segments) == 1 else [title, *segments]


def _raw_title(body: bytes | str) -> str:
    if isinstance(body, bytes):
        start = body.find(b"<title")
        if start < 0:
            start = body.find(b"<TITLE")
        raw = body[start : start + _MAX_TITLE].decode("utf-8", "replace") if start >= 0 else ""
    else:
        start = body.find("<title")
        if start < 0:
            start = body.find("<TITLE")
        raw = body[start : start + _MAX_TITLE] if start >= 0 else ""
    inner = raw.partition(">")[2].partition("<")[0]
    return normal(html.unescape(inner) if "&" in inner else inner)
