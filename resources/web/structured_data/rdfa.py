"""RDFa of a page (RDFa Core 1.1 §7.5 with the rules of HTML+RDFa 1.1; RDFa Lite is the part most pages use).

Documents that call themselves XHTML+RDFa 1.0 in `html version`, as many content systems still do, are read by the
rules of 1.0 where these differ: its link types are terms, text with elements in it is an XMLLiteral, and `property`
takes no address.

The result is JSON-LD in expanded, flattened form: a node for each subject in document order, `{"@id": …, "@type":
[…], property: [values]}`, a value `{"@value": …}` with `@type` or `@language`, `{"@id": …}` or `{"@list": […]}`.
Subjects without a name are `_:b0`, `_:b1` …. An XMLLiteral is the element's inner HTML as it stands in the tree.

One pass over all elements, 1 µs each, without recursion; bounded in statements and in characters of literals, since
elements inside elements can name the same text over and over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .addresses import Resolver
from .rdfa_element import RDF_TYPE, Context, Element, Lists, Value
from .rdfa_names import INITIAL_PREFIXES, Names, prefix_mappings

__all__ = ["MAX_STATEMENTS", "MAX_TEXT", "Node", "nodes"]

Node: TypeAlias = dict[str, Any]

#: Statements of one page; the largest listings have some thousands.
MAX_STATEMENTS = 20_000
#: Characters of all literals together.
MAX_TEXT = 4_000_000
#: Values of a property looked at for an equal one: all of them would make long lists cost the square of their length.
_COMPARED = 100
_USES = "http://www.w3.org/ns/rdfa#usesVocabulary"
#: An element without any of these changes nothing for what is inside of it.
_TELLING = frozenset(
    (
        *("about", "content", "datatype", "href", "inlist", "prefix", "property", "rel", "resource", "rev"),
        *("src", "typeof", "vocab", "lang", "xml:lang"),
    )
)


class _Full(Exception):
    """A bound is reached: what was read is kept."""


def nodes(tree: LexborHTMLParser, resolver: Resolver, problems: list[str]) -> list[Node]:
    """The nodes of the page's graph; none for a page without RDFa."""
    reader = Reader(resolver)
    root = tree.root
    if root is None:
        return []
    try:
        reader.walk(root)
    except _Full as limit:
        problems.append(f"RDFa: {limit}: the rest is not read")
    return [node for node in reader.graph.values() if len(node) > 1]


class Reader:
    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._old = False
        self._left = MAX_STATEMENTS
        self._text_left = MAX_TEXT
        self._unnamed = 0
        self.graph: dict[str, Node] = {}

    # -- the walk --------------------------------------------------------------------------------------
    def walk(self, root: LexborNode) -> None:
        """Every element once, parents first; lists are closed when their element ends (§7.5.14)."""
        self._old = (root.attributes.get("version") or "").strip() == "XHTML+RDFa 1.0"
        base = Names(self._resolver, INITIAL_PREFIXES, old=self._old)
        here = base.address("")
        context = Context(here, here, base)
        open_elements: list[tuple[LexborNode, Context, str, Lists]] = []
        node: LexborNode | None = root
        while node is not None:
            inner, subject = context, ""
            if node.tag is not None and node.tag[:1] != "-":
                inner, subject = self._element(node, context, root=not open_elements)
                child = node.first_child
                open_elements.append((node, context, subject, inner.lists))
                if child is not None:
                    context, node = inner, child
                    continue
                self._close(*open_elements.pop()[1:])
            while node is not None and node.next is None:
                if not open_elements:
                    return
                node, context, subject, lists = open_elements.pop()
                self._close(context, subject, lists)
                if not open_elements:
                    return
            node = node.next if node is not None else None

    def _close(self, context: Context, subject: str, lists: Lists) -> None:
        if lists is context.lists or not subject:
            return
        for name, values in lists.items():
            if context.lists.get(name) is not values:
                self.state(subject, name, {"@list": values})

    def _element(self, node: LexborNode, context: Context, *, root: bool) -> tuple[Context, str]:
        """(the context inside, the subject whose lists end with this element; "" for none)."""
        given: Mapping[str, str | None] = node.attributes
        if _TELLING.isdisjoint(given) and not root and not any(name.startswith("xmlns:") for name in given):
            return context, ""
        names = self._names(given, context)
        language = given.get("lang") if "lang" in given else given.get("xml:lang")
        place = Element(self, node, given, names, context, root=root)
        place.language = context.language if language is None else language.strip()
        return place.read()

    def _names(self, given: Mapping[str, str | None], context: Context) -> Names:
        vocabulary: str | None = None
        if "vocab" in given:
            written = (given.get("vocab") or "").strip()
            vocabulary = context.names.address(written) if written else ""
            if vocabulary:
                self.state(context.names.address(""), _USES, {"@id": vocabulary})
        return context.names.within(prefix_mappings(given), vocabulary)

    # -- statements ------------------------------------------------------------------------------------
    def unnamed(self) -> str:
        """A node without a name of its own; those that a page names `_:x` are `_:nx` and never one of these."""
        self._unnamed += 1
        return f"_:b{self._unnamed - 1}"

    def state(self, subject: str, name: str, value: Value) -> None:
        """A graph is a set: saying the same twice says it once."""
        self.spend()
        node = self.graph.setdefault(subject, {"@id": subject})
        if name == RDF_TYPE and "@id" in value:
            types = node.setdefault("@type", [])
            if value["@id"] not in types[-_COMPARED:]:
                types.append(value["@id"])
            return
        values = node.setdefault(name, [])
        if value not in values[-_COMPARED:]:
            values.append(value)

    def spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _Full(f"more than {MAX_STATEMENTS:,} statements")

    def text(self, node: LexborNode, *, markup: bool = False) -> str:
        """The text of an element, or its inner HTML."""
        found = (node.inner_html if markup else node.text(deep=True)) or ""
        self._text_left -= len(found)
        if self._text_left < 0:
            raise _Full(f"more than {MAX_TEXT:,} characters of text")
        return found

    @property
    def old(self) -> bool:
        return self._old
