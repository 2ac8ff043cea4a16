"""The values of microformats: what a property of each kind reads from its element.

`p-` texts, `u-` addresses, `dt-` moments, with the value class pattern: a value put together from descendants of class
`value` or `value-title` (microformats.org: "microformats2 parsing specification", "value class pattern").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from selectolax.lexbor import LexborNode

from .addresses import Resolver

__all__ = ["MAX_TEXT", "ROOT", "Full", "Values", "is_root"]

#: Characters of all texts of one page together.
MAX_TEXT = 4_000_000
#: What looking at one node counts as, in characters: properties inside properties look at the same nodes again.
_A_NODE = 20
#: Levels between a value and its property.
_MOST_LEVELS = 64
#: A class that begins an item.
ROOT = re.compile(r"h-(?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}-\d{3}|\d{4}-\d\d")
_TIME = re.compile(r"(\d\d?)(?::(\d\d))?(?::(\d\d))?\s*([ap])\.?m\.?|(\d\d:\d\d(?::\d\d)?)", re.IGNORECASE)
_ZONE = re.compile(r"(?:Z|[+-]\d\d?:?(?:\d\d)?)\Z", re.IGNORECASE)
#: Element → attributes that hold its value, the first that is there, for each kind of property.
_NAMED = {"abbr": ("title",), "data": ("value",), "input": ("value",)}
_PLAIN = _NAMED | {"link": ("title",), "img": ("alt",), "area": ("alt",)}
_MOMENT = _NAMED | {"time": ("datetime",), "ins": ("datetime",), "del": ("datetime",)}
_ADDRESS = {
    **dict.fromkeys(("a", "area", "link"), ("href",)),
    **dict.fromkeys(("audio", "source", "iframe"), ("src",)),
    "video": ("src", "poster"),
    "object": ("data",),
}


class Full(Exception):
    """A bound is reached: what was read is kept."""


class Values:
    """Reads values of one page, and counts their characters."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._text_left = MAX_TEXT

    def plain(self, node: LexborNode) -> str:
        if parts := self._value_class(node):
            return "".join(parts)
        value = _attribute(node, _PLAIN)
        return self.text(node) if value is None else value

    def address(self, node: LexborNode) -> Any:
        if node.tag == "img" and "src" in node.attrs:
            return self.picture(node)
        value = _attribute(node, _ADDRESS)
        if value is None and (parts := self._value_class(node)):
            value = "".join(parts)
        if value is None:
            value = _attribute(node, _NAMED)
        return self._resolver.absolute(self.text(node) if value is None else value)

    def picture(self, node: LexborNode) -> Any:
        address = self._resolver.absolute(node.attrs.get("src") or "")
        return {"value": address, "alt": node.attrs.get("alt") or ""} if "alt" in node.attrs else address

    def moment(self, node: LexborNode) -> str:
        if parts := self._value_class(node, moments=True):
            return _joined_moment(parts)
        value = _attribute(node, _MOMENT)
        return self.text(node) if value is None else value

    def _value_class(self, node: LexborNode, *, moments: bool = False) -> list[str]:
        """The pieces of the value class pattern: descendants with class `value` or `value-title`."""
        if node.css_first(".value,.value-title") is None:
            return []
        found = []
        parts = node.css(".value,.value-title")
        self._spend(_A_NODE * len(parts))
        for part in parts:
            if part.mem_id == node.mem_id or self._in_another_value(part, node):
                continue
            given, tag = part.attrs, part.tag
            if "value-title" in (given.get("class") or "").split():
                found.append(given.get("title") or "")
            elif tag in ("img", "area"):
                found.append(given.get("alt") or "")
            elif tag == "data" or (tag == "input" and "value" in given):
                found.append(given.get("value") or self.text(part))
            elif tag == "abbr" and "title" in given:
                found.append(given.get("title") or "")
            elif moments and tag in ("time", "ins", "del") and "datetime" in given:
                found.append(given.get("datetime") or "")
            else:
                found.append(self.text(part))
        return found

    def _in_another_value(self, part: LexborNode, root: LexborNode) -> bool:
        above = part.parent
        for _ in range(_MOST_LEVELS):
            if above is None or above.mem_id == root.mem_id:
                return False
            self._spend(_A_NODE)
            words = (above.attrs.get("class") or "").split()
            if "value" in words or is_root(above):
                return True
            above = above.parent
        return True  # deeper than any value stands

    def text(self, node: LexborNode) -> str:
        """textContent without scripts and styles, pictures as their `alt` or address; blanks around cut."""
        if node.css_first("script,style,img") is None:
            return self._counted(node.text(deep=True).strip())
        pieces = []
        for each in node.traverse(include_text=True):
            self._spend(_A_NODE)
            if each.is_text_node:
                parent = each.parent
                if parent is None or parent.tag not in ("script", "style", "template"):
                    pieces.append(each.text_content or "")
            elif each.tag == "img" and each.mem_id != node.mem_id:
                given = each.attrs
                if "alt" in given:
                    pieces.append(given.get("alt") or "")
                elif "src" in given:
                    pieces.append(f" {self._resolver.absolute(given.get('src') or '')} ")
        return self._counted("".join(pieces).strip())

    def html(self, node: LexborNode) -> str:
        return self._counted((node.inner_html or "").strip())

    def _counted(self, text: str) -> str:
        self._spend(len(text))
        return text

    def _spend(self, characters: int) -> None:
        self._text_left -= characters
        if self._text_left < 0:
            raise Full(f"more than {MAX_TEXT:,} characters of text")


def _attribute(node: LexborNode, places: Mapping[str, tuple[str, ...]]) -> str | None:
    """The value that the element has in an attribute; None when it has none there."""
    given = node.attrs
    for name in places.get(node.tag or "", ()):
        if name in given:
            return given.get(name) or ""
    return None


def is_root(node: LexborNode) -> bool:
    """Whether an element begins an item of microformats2."""
    return any(
        word.startswith("h-") and ROOT.fullmatch(word) for word in (node.attrs.get("class") or "").split()
    )


def _joined_moment(parts: list[str]) -> str:
    """Date, time and zone that stand apart as one: `2013-06-13`, `3pm`, `+01:00` (value class pattern, dates)."""
    date = time = zone = ""
    for part in (part.strip() for part in parts):
        if not date and (found := _DATE.match(part)) is not None:
            date = found[0]
            part = part[found.end() :].lstrip("T ")
        if not time and (clock := _TIME.match(part)) is not None:
            time = _clock(clock)
            part = part[clock.end() :]
        if not zone and (found := _ZONE.search(part)) is not None:
            zone = found[0].upper()
    return f"{date} {time}{zone}".strip() if date or time else parts[0].strip()


def _clock(found: re.Match[str]) -> str:
    if found[5]:
        return found[5]
    hour = int(found[1]) % 12 + (12 if found[4].lower() == "p" else 0)
    return ":".join((f"{hour:02}", found[2] or "00", *([found[3]] if found[3] else [])))
