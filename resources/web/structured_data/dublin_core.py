"""Dublin Core in `meta` and `link` elements (DCMI DC-HTML, and the older forms of RFC 2731).

`DC.title`, `dc:title`, `DCTERMS.issued`, `dcterms.issued`, and refinements such as `DC.Date.modified`, which
stands for the term `modified`. A prefix means what `<link rel="schema.PREFIX">` says, or the usual.
"""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .addresses import Resolver

__all__ = ["DublinCore", "Vocabulary", "is_dublin_core"]

ELEMENTS = "http://purl.org/dc/elements/1.1/"
TERMS = "http://purl.org/dc/terms/"
#: The fifteen elements (DCMES 1.1, RFC 5013).
_FIFTEEN = frozenset(
    {
        *("title", "creator", "subject", "description", "publisher", "contributor", "date", "type"),
        *("format", "identifier", "source", "language", "relation", "coverage", "rights"),
    }
)
_USUAL = {"dc": ELEMENTS, "dcterms": TERMS, "dct": TERMS}


@dataclass(frozen=True, slots=True)
class DublinCore:
    """One statement. `name` as written, `uri` the property it means, `content` its value."""

    name: str
    uri: str
    content: str
    lang: str | None = None
    scheme: str | None = None
    #: From a `link`: `content` is an address.
    is_link: bool = False

    @property
    def is_term(self) -> bool:
        """Of the terms namespace, not of the fifteen elements."""
        return self.uri.startswith(TERMS)

    @property
    def term(self) -> str:
        """The last part of the URI: `creator`, `issued`."""
        return self.uri.rpartition("/")[2].rpartition("#")[2]


def is_dublin_core(name: str) -> bool:
    """Whether a `meta` name or `link` relation can be Dublin Core, by its usual prefixes."""
    head = name[:8].lower()
    return head.startswith(("dc.", "dc:", "dcterms.", "dcterms:", "dct.", "dct:"))


class Vocabulary:
    """The prefixes of one page."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.namespaces = dict(_USUAL)
        #: Prefix as written → namespace, only what the page declares.
        self.declared: dict[str, str] = {}
        for link in tree.css("link[rel]"):
            relation = (link.attrs.get("rel") or "").strip()
            if relation[:7].lower() == "schema." and link.attrs.get("href"):
                self.declared[relation[7:]] = (link.attrs.get("href") or "").strip()
                self.namespaces[relation[7:].lower()] = self.declared[relation[7:]]

    def uri(self, name: str) -> str | None:
        """1. PREFIX.element.  2. PREFIX.element.refinement: the refinement is the term."""
        prefix, _, rest = name.replace(":", ".", 1).partition(".")
        namespace = self.namespaces.get(prefix.lower())
        element, _, refinement = rest.partition(".")
        if namespace is None or not element or not namespace.startswith("http://purl.org/dc/"):
            return None
        if refinement:
            return TERMS + refinement.rpartition(".")[2]
        if element.lower() in _FIFTEEN:
            return namespace + element.lower()
        # The elements namespace holds the fifteen only; anything else written with it is a term.
        return (TERMS if namespace == ELEMENTS else namespace) + element[:1].lower() + element[1:]

    def statement(self, meta: LexborNode, name: str) -> DublinCore | None:
        """What a `meta` element says."""
        uri, given = self.uri(name), meta.attrs
        if uri is None:
            return None
        return DublinCore(name, uri, given.get("content") or "", given.get("lang"), given.get("scheme"))

    def links(self, tree: LexborHTMLParser, resolver: Resolver) -> list[DublinCore]:
        """What `link` elements say: the relation is the property."""
        found = []
        for link in tree.css("link[rel][href]"):
            for relation in (link.attrs.get("rel") or "").split():
                uri = self.uri(relation) if is_dublin_core(relation) else None
                if uri is not None:
                    address = resolver.absolute(link.attrs.get("href") or "")
                    found.append(DublinCore(relation, uri, address, link.attrs.get("hreflang"), None, True))
        return found
