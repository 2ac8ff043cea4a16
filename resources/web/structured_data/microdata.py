"""Microdata items of a page (WHATWG HTML §5: itemscope, itemtype, itemid, itemprop, itemref).

Three deliberate departures, all what search engines do: a `content` attribute gives the value of any element,
not of `meta` only; an item without properties carries its text as `value`; scripts and styles are no text.
Otherwise values are textContent as it is, blanks included.

An item is `{"type": [...], "id": "...", "properties": {name: [values]}}`, a value a string or an item; `type`
and `id` are left out where there are none. Loops through itemref end, and the whole is bounded: itemref can
make a small page name the same properties exponentially often.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .addresses import Resolver

__all__ = ["MAX_PROPERTIES", "Item", "items"]

Item: TypeAlias = dict[str, Any]

#: Values read from one page; the largest category pages seen have about 5,000.
MAX_PROPERTIES = 20_000
#: Items within items.
_MAX_DEPTH = 32
#: Element → attribute that holds an address (WHATWG HTML §5.2.4).
_ADDRESS_IN = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "source": "src",
    "track": "src",
    "video": "src",
    "a": "href",
    "area": "href",
    "link": "href",
    "object": "data",
}
_VALUE_IN = {"data": "value", "meter": "value", "time": "datetime"}


def items(tree: LexborHTMLParser, resolver: Resolver, problems: list[str]) -> list[Item]:
    """The top-level items in tree order."""
    return _Reader(tree, resolver, problems).top()


class _Reader:
    def __init__(self, tree: LexborHTMLParser, resolver: Resolver, problems: list[str]) -> None:
        self._tree, self._resolver, self._problems = tree, resolver, problems
        self._left = MAX_PROPERTIES
        # A list of selectors gives an element once for each that it matches.
        nodes = list({node.mem_id: node for node in tree.css("[itemscope],[itemprop]")}.values())
        self._position = {node.mem_id: at for at, node in enumerate(nodes)}
        #: Element → the nearest itemscope above it (0: none), for every element passed on the way up.
        self._owners: dict[int, int] = {}
        self._scopes = {node.mem_id for node in nodes if "itemscope" in node.attrs}
        self._nodes = nodes
        self._members: dict[int, list[LexborNode]] = {}
        #: What an itemref to an element brings, looked up once however many items refer to it.
        self._referred: dict[int, list[LexborNode]] = {}
        for node in nodes:
            if (node.attrs.get("itemprop") or "").strip():
                owner = self._owner(node)
                if owner:
                    self._members.setdefault(owner, []).append(node)

    def top(self) -> list[Item]:
        """1. An itemscope that is no property of anything.  2. An itemscope without itemprop."""
        found = []
        for node in self._nodes:
            if node.mem_id in self._scopes and not (node.attrs.get("itemprop") or "").strip():
                found.append(self._item(node, ()))
                if self._left <= 0:
                    self._problems.append(
                        f"more than {MAX_PROPERTIES} microdata values: the rest is not read"
                    )
                    break
        return found

    def _owner(self, node: LexborNode) -> int:
        """Linear over the page: what was found for an element holds for all that were passed on the way."""
        passed = []
        at = node.parent
        owner = 0
        while at is not None:
            key = at.mem_id
            if key in self._scopes:
                owner = key
                break
            known = self._owners.get(key)
            if known is not None:
                owner = known
                break
            passed.append(key)
            at = at.parent
        for key in passed:
            self._owners[key] = owner
        return owner

    def _item(self, node: LexborNode, above: tuple[int, ...]) -> Item:
        item: Item = {}
        types = (node.attrs.get("itemtype") or "").split()
        if types:
            item["type"] = list(dict.fromkeys(types))
        identity = (node.attrs.get("itemid") or "").strip()
        if identity:
            item["id"] = self._resolver.absolute(identity)
        properties: dict[str, list[Any]] = {}
        inside = (*above, node.mem_id)
        for element in self._elements(node):
            if self._left <= 0:
                break
            self._left -= 1
            value = self._value(element, inside)
            if value is None:
                continue
            for name in dict.fromkeys((element.attrs.get("itemprop") or "").split()):
                properties.setdefault(name, []).append(value)
        item["properties"] = properties
        if not properties:
            text = " ".join(_text(node).split())
            if text:
                item["value"] = text
        self._left -= 1
        return item

    def _elements(self, node: LexborNode) -> list[LexborNode]:
        """The elements that add properties to an item, in tree order (WHATWG HTML §5.2.5)."""
        own = self._members.get(node.mem_id, [])
        references = (node.attrs.get("itemref") or "").split()
        if not references:
            return own
        found = {element.mem_id: element for element in own}
        for reference in dict.fromkeys(references):
            root = self._by_id(reference)
            if root is None or root.mem_id == node.mem_id:
                continue
            inside = root.mem_id if root.mem_id in self._scopes else self._owner(root)
            for element in self._within(root, inside):
                found[element.mem_id] = element
        return sorted(found.values(), key=lambda element: self._position[element.mem_id])

    def _within(self, root: LexborNode, owner: int) -> list[LexborNode]:
        """What a reference to `root` brings, in no order.

        1. A property: itself; below it, unless it is an item, the properties of no item in between.  2. An item
        that is no property: its own properties. By the letter it would bring nothing; nobody writes it for that.
        """
        known = self._referred.get(root.mem_id)
        if known is not None:
            return known
        named = bool((root.attrs.get("itemprop") or "").strip())
        candidates = [root]
        if root.mem_id not in self._scopes or not named:
            below = (each for each in root.css("[itemprop]") if each.mem_id != root.mem_id)
            candidates += [each for each in below if self._owner(each) == owner]
        found = [each for each in candidates if (each.attrs.get("itemprop") or "").strip()]
        self._referred[root.mem_id] = found
        return found

    def _by_id(self, identity: str) -> LexborNode | None:
        # An attribute selector with the value quoted: an id may hold anything but blanks.
        quoted = identity.replace("\\", "\\\\").replace('"', '\\"')
        return self._tree.css_first(f'[id="{quoted}"]')

    def _value(self, element: LexborNode, above: tuple[int, ...]) -> str | Item | None:
        if element.mem_id in self._scopes:
            if element.mem_id in above or len(above) > _MAX_DEPTH:
                self._problems.append("a microdata item contains itself: the inner one is left out")
                return None
            return self._item(element, above)
        given = element.attrs
        tag = element.tag or ""
        content = given.get("content")
        if content is not None or tag == "meta":
            return content or ""
        address_in = _ADDRESS_IN.get(tag)
        if address_in is not None:
            address = given.get(address_in)
            return self._resolver.absolute(address) if address else ""
        value_in = _VALUE_IN.get(tag)
        if value_in is not None:
            value = given.get(value_in)
            if value is not None:
                return value
            if tag != "time":
                return ""
        return _text(element)


def _text(element: LexborNode) -> str:
    """textContent without what is never shown: scripts and styles."""
    if element.css_first("script,style") is None:
        return element.text(deep=True)
    return "".join(
        node.text_content or ""
        for node in element.traverse(include_text=True)
        if node.is_text_node and (node.parent is None or node.parent.tag not in ("script", "style"))
    )
