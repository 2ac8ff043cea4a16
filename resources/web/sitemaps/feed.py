"""Pages of RSS 0.9x, 1.0 and 2.0 and of Atom 0.3 and 1.0 (RFC 4287): one address an item, with its date."""

from __future__ import annotations

from collections.abc import Iterator

from .addresses import Addresses, resolve
from .document import Entry, Limits, Problems
from .elements import CORE
from .entry_reader import EntryReader
from .markup import Markup, attributes

__all__ = ["Feed"]

#: (family, element) → field. The date that says when an item last changed wins over when it was born.
_FIELDS = {
    (CORE, "link"): "link",
    (CORE, "guid"): "guid",
    (CORE, "id"): "id",
    (CORE, "updated"): "updated",
    (CORE, "modified"): "updated",
    (CORE, "pubdate"): "published",
    (CORE, "published"): "published",
    (CORE, "issued"): "published",
    (CORE, "created"): "published",
    ("atom", "updated"): "updated",
    ("dc", "date"): "published",
    ("feedburner", "origlink"): "original",
}
#: rel values of a link that stands for the item itself, best first; "" is no rel at all (RFC 4287 §4.2.7.2:
#: the same as alternate). `self` is the item's own document, taken for lack of a page.
_RELATIONS = ("alternate", "self")


class Feed(EntryReader):
    """Takes tokens, gives entries. Links of the channel, of its image and of text input are no items."""

    def __init__(
        self, markup: Markup, addresses: Addresses, limits: Limits, problems: Problems, core: str
    ) -> None:
        super().__init__(markup, addresses, limits, problems, core)
        self._item_at = -1
        self._values: dict[str, str] = {}
        self._guid_is_link = True
        #: (position on the stack, base in force outside): xml:base, RFC 4287 §2.
        self._bases: list[tuple[int, str | None]] = []
        self._base: str | None = None

    def _open(self, name: str, source: str) -> Iterator[Entry]:
        family, local = self._elements.push(name, source)
        at = len(self._elements.open) - 1
        if "xml:base" in source:
            self._rebase(attributes(source).get("xml:base", ""), at)
        if family == CORE and local in ("item", "entry"):
            self._value_at = -1
            yield from self._flush()
            self._item_at = at
            if "rdf:about" in source:
                # RSS 1.0 §5.5: the item's own address, the same as its link.
                self._values["id"] = self._markup.text(attributes(source).get("rdf:about", "")).strip()
            return
        # Fields are children of the item: a `link` deeper down is part of its content or its source.
        if self._item_at < 0 or at != self._item_at + 1:
            return
        field = _FIELDS.get((family, local))
        if field is None and (family, local) != ("atom", "link"):
            return
        if self._value_at >= 0:
            self._finish_value()
        if local == "link":
            self._link(source)
        if local == "guid":
            self._guid_is_link = attributes(source).get("ispermalink", "").lower() != "false" and (
                attributes(source).get("isPermaLink", "true").strip().lower() != "false"
            )
        if field is not None:
            self._collect(field, at)

    def _rebase(self, written: str, at: int) -> None:
        base = resolve(self._base or self._addresses.base, self._markup.text(written).strip())
        if base is not None and len(base) <= self._limits.url:
            self._bases.append((at, self._base))
            self._base = base

    def _link(self, source: str) -> None:
        given = attributes(source)
        if "href" not in given:
            return
        relation = given.get("rel", "").strip().lower() or "alternate"
        kind = given.get("type", "").lower()
        # An alternate that is no page (a JSON or feed form of the item) yields to one that is.
        rank = relation if "html" in kind or not kind else relation + " other"
        address = self._addresses.absolute(self._markup.text(given["href"]), self._base)
        if address is not None:
            self._values.setdefault(f"rel {rank}", address)

    def _loose(self, text: str) -> None:
        if self._item_at >= 0 and len(self._elements.open) == self._item_at + 1:
            # `<link/>https://…`: an HTML serializer took the link for its void element.
            text = text.strip()
            if text[:8].lower().startswith(("https://", "http://")):
                self._values.setdefault("loose", text[: self._limits.url + 1])

    def _close(self, name: str) -> Iterator[Entry]:
        at = self._elements.closing(name)
        if at is None:
            return
        if self._value_at >= at:
            self._finish_value()
        if self._item_at >= at:
            yield from self._flush()
        while self._bases and self._bases[-1][0] >= at:
            self._base = self._bases.pop()[1]
        self._elements.cut(at)

    def _finish_value(self) -> None:
        self._value_at = -1
        value = "".join(self._parts).strip()
        if value:
            opaque = self._value_name == "guid" and not self._guid_is_link
            self._values.setdefault("opaque" if opaque else self._value_name, value)

    def _flush(self) -> Iterator[Entry]:
        values, self._values = self._values, {}
        begun, self._item_at, self._guid_is_link = self._item_at >= 0, -1, True
        if not begun:
            return
        address = self._address(values)
        if address is None:
            self._problems.add("an item names no page: dropped")
        elif self._addresses.first_time(address):
            date = values.get("updated") or values.get("published")
            yield Entry(address, date, cross_site=self._addresses.cross_site(address))

    def _address(self, values: dict[str, str]) -> str | None:
        """1. The original link behind a redirector.  2. The link.  3. An Atom link, alternate first.
        4. A guid that is a permalink.  5. A guid, id or bare text that happens to be an address."""
        for name in ("original", "link"):
            if name in values:
                address = self._addresses.absolute(values[name], self._base)
                if address is not None:
                    return address
        for relation in _RELATIONS:
            for name in (f"rel {relation}", f"rel {relation} other"):
                if name in values:
                    return values[name]
        for name in ("guid", "opaque", "id", "loose"):
            value = values.get(name, "")
            if value[:8].lower().startswith(("https://", "http://")):
                return self._addresses.absolute(value)
        return None
