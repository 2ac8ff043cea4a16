"""Microformats of a page (microformats.org "microformats2 parsing specification"; classic ones through the same).

An item is `{"type": ["h-card"], "properties": {name: [values]}}`, with `children` where items stand inside that are no
property, and `value` (`html` too for `e-`) where it is one itself. A value is a text, an item, `{"value", "alt"}` for
a picture with a description, `{"value", "html"}` for `e-`. Names, pictures and addresses are implied as the
specification says.

Linear in the elements of the page but for texts of properties inside properties, which are bounded together; without
recursion beyond `MAX_DEPTH` items in items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .addresses import Resolver
from .microformats_classic import CLASSIC, INNER_ONLY, Classic
from .microformats_values import MAX_TEXT, ROOT, Full, Values, is_root

__all__ = ["MAX_DEPTH", "MAX_TEXT", "MAX_VALUES", "ROOTS", "Item", "items", "says_something"]

Item: TypeAlias = dict[str, Any]

#: Values of one page, items included.
MAX_VALUES = 20_000
#: Items inside items.
MAX_DEPTH = 32
#: Roots that have a meaning; the specification has any `h-` word, and style sheets have many.
ROOTS = (
    *("h-entry", "h-card", "h-event", "h-feed", "h-product", "h-recipe", "h-review", "h-review-aggregate"),
    *("h-adr", "h-geo", "h-item", "h-cite", "h-resume", "h-listing", "h-app", "h-news"),
)
_PROPERTY = re.compile(r"(p|u|dt|e)-((?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*)")


@dataclass(slots=True)
class _Open:
    """An item whose element is being read."""

    item: Item
    #: Properties it may have, None: any of microformats2.
    classic: Classic | None = None
    #: Prefixes of explicit properties, and whether an item stands inside: what nothing is implied beside.
    prefixes: set[str] = field(default_factory=set)
    nests: bool = False


def items(tree: LexborHTMLParser, resolver: Resolver, problems: list[str]) -> list[Item]:
    """The items of the page that stand in no other, in document order."""
    found: list[Item] = []
    root = tree.root
    if root is not None:
        try:
            _Reader(resolver, found).inside(root, None, 0)
        except Full as limit:
            problems.append(f"microformats: {limit}: the rest is not read")
    return found


def says_something(item: Item) -> bool:
    """Whether an item is more than a class of a style sheet that looks like a root: its type has a meaning."""
    return any(kind in ROOTS or kind.startswith("h-x-") for kind in item["type"])


class _Reader:
    def __init__(self, resolver: Resolver, found: list[Item]) -> None:
        self._resolver = resolver
        self._found = found
        self._values_left = MAX_VALUES
        self._values = Values(resolver)

    # -- the walk --------------------------------------------------------------------------------------
    def inside(self, above: LexborNode, into: _Open | None, depth: int) -> None:
        """Everything below an element; `into`: the item it belongs to."""
        end = above.mem_id
        node = above.first_child
        while node is not None:
            descend = node.is_element_node and node.tag != "template"
            if descend and "class" in node.attrs:
                descend = not self._element(node, into, depth)
            child = node.first_child if descend else None
            if child is not None:
                node = child
                continue
            while node is not None and node.next is None:
                node = node.parent
                if node is None or node.mem_id == end:
                    return
            node = node.next if node is not None else None

    def _element(self, node: LexborNode, into: _Open | None, depth: int) -> bool:
        """Read an element with classes; whether what is below it has been read as well."""
        classes = (node.attrs.get("class") or "").split()
        roots, classic = self._roots(classes, into)
        wanted = list(self._properties(classes, into)) if into is not None else []
        if not roots:
            for prefix, name in wanted:
                assert into is not None
                into.prefixes.add(prefix)
                self._put(into.item["properties"], name, self._value(prefix, node))
            return False
        self._spend()
        item: Item = {"type": sorted(set(roots)), "properties": {}}
        if identity := (node.attrs.get("id") or "").strip():
            item["id"] = identity
        if into is None:
            self._found.append(item)
        elif not wanted:
            into.nests = True
            into.item.setdefault("children", []).append(item)
        opened = _Open(item, classic)
        if depth < MAX_DEPTH:
            self.inside(node, opened, depth + 1)
        self._imply(node, opened)
        for prefix, name in wanted:
            assert into is not None
            into.prefixes.add(prefix)
            into.nests = True
            self._put(into.item["properties"], name, self._nested(prefix, node, item))
        return True

    def _roots(self, classes: list[str], into: _Open | None) -> tuple[list[str], Classic | None]:
        """The roots in a class list, and what a classic one may hold."""
        roots = [word for word in classes if word.startswith("h-") and ROOT.fullmatch(word)]
        if roots:
            return roots, None
        inner = into.classic if into is not None else None
        asked = [
            word for name in classes if inner and name in inner for word in inner[name] if word[:2] == "h-"
        ]
        for name in classes:
            if name in CLASSIC and (name not in INNER_ONLY or CLASSIC[name][0] in asked):
                return [CLASSIC[name][0]], CLASSIC[name][1]
        if asked:
            classic = next((held for root, held in CLASSIC.values() if root == asked[0]), {})
            return [asked[0]], classic
        return [], None

    def _properties(self, classes: list[str], into: _Open) -> Iterator[tuple[str, str]]:
        if into.classic is None:
            for word in dict.fromkeys(classes):
                if (found := _PROPERTY.fullmatch(word)) is not None:
                    yield found[1], found[2]
            return
        for word in dict.fromkeys(classes):
            for stands_for in into.classic.get(word, ()):
                if (found := _PROPERTY.fullmatch(stands_for)) is not None:
                    yield found[1], found[2]

    def _put(self, properties: dict[str, list[Any]], name: str, value: object) -> None:
        self._spend()
        properties.setdefault(name, []).append(value)

    def _spend(self) -> None:
        self._values_left -= 1
        if self._values_left < 0:
            raise Full(f"more than {MAX_VALUES:,} values")

    # -- values ----------------------------------------------------------------------------------------
    def _value(self, prefix: str, node: LexborNode) -> Any:
        if prefix == "p":
            return self._values.plain(node)
        if prefix == "u":
            return self._values.address(node)
        if prefix == "dt":
            return self._values.moment(node)
        return {"html": self._values.html(node), "value": self._values.text(node)}

    def _nested(self, prefix: str, node: LexborNode, item: Item) -> Item:
        """An item that is the value of a property: with what it is called as its `value`."""
        if prefix == "e":
            return item | {"html": self._values.html(node), "value": self._values.text(node)}
        first = {"p": "name", "u": "url"}.get(prefix, "")
        named = next((v for v in item["properties"].get(first, ()) if isinstance(v, str) and v), None)
        value = named if named is not None else self._value(prefix, node)
        return item | {"value": value["value"] if isinstance(value, dict) else value}

    # -- what is implied ---------------------------------------------------------------------------------
    def _imply(self, node: LexborNode, opened: _Open) -> None:
        """Name, picture and address, where nothing explicit stands in the way. Classic items say all they say."""
        if opened.nests or opened.classic is not None:
            return
        properties, prefixes = opened.item["properties"], opened.prefixes
        if "name" not in properties and not prefixes & {"p", "e"}:
            self._put(properties, "name", self._implied_name(node))
        if "u" in prefixes:
            return
        if "photo" not in properties and (picture := _implied(node, (("img", "src"), ("object", "data")))):
            if picture.tag == "img":
                self._put(properties, "photo", self._values.picture(picture))
            else:
                self._put(properties, "photo", self._resolver.absolute(picture.attrs.get("data") or ""))
        if "url" not in properties and (link := _implied(node, (("a", "href"), ("area", "href")))):
            self._put(properties, "url", self._resolver.absolute(link.attrs.get("href") or ""))

    def _implied_name(self, node: LexborNode) -> str:
        only = _only_child(node)
        inner = _only_child(only) if only is not None else None
        for each in (node, only, inner):
            if each is None:
                continue
            attribute = {"img": "alt", "area": "alt", "abbr": "title"}.get(each.tag or "")
            value = each.attrs.get(attribute) if attribute else None
            if value is not None and (value or each is node):
                return value.strip()
        return self._values.text(node)


def _only_child(node: LexborNode) -> LexborNode | None:
    """The one element child, if it is no item itself."""
    children = [child for child in node.iter() if child.is_element_node]
    return children[0] if len(children) == 1 and not is_root(children[0]) else None


def _implied(node: LexborNode, kinds: tuple[tuple[str, str], ...]) -> LexborNode | None:
    """1. The element itself. 2. The only child of its kind. 3. The same inside the only child."""
    for tag, attribute in kinds:
        if node.tag == tag and attribute in node.attrs:
            return node
    for parent in (node, _only_child(node)):
        if parent is None:
            continue
        for tag, attribute in kinds:
            same = [child for child in parent.iter() if child.tag == tag]
            if len(same) == 1 and attribute in same[0].attrs and not is_root(same[0]):
                return same[0]
    return None
