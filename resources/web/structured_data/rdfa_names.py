"""How RDFa writes the names of things: prefixes, terms, compact and whole IRIs (RDFa Core 1.1 §7.4).

The prefixes known without a declaration are those of the RDFa initial context (W3C, revision of 2014 and later),
and Open Graph's own (ogp.me), which no page declares and every reader knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .addresses import Resolver

__all__ = ["INITIAL_PREFIXES", "Names", "prefix_mappings"]

_XHV = "http://www.w3.org/1999/xhtml/vocab#"

INITIAL_PREFIXES: Mapping[str, str] = {
    # Vocabularies of W3C documents.
    "as": "https://www.w3.org/ns/activitystreams#",
    "csvw": "http://www.w3.org/ns/csvw#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dqv": "http://www.w3.org/ns/dqv#",
    "duv": "https://www.w3.org/ns/duv#",
    "grddl": "http://www.w3.org/2003/g/data-view#",
    "jsonld": "http://www.w3.org/ns/json-ld#",
    "ldp": "http://www.w3.org/ns/ldp#",
    "ma": "http://www.w3.org/ns/ma-ont#",
    "oa": "http://www.w3.org/ns/oa#",
    "odrl": "http://www.w3.org/ns/odrl/2/",
    "org": "http://www.w3.org/ns/org#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "qb": "http://purl.org/linked-data/cube#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfa": "http://www.w3.org/ns/rdfa#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "rif": "http://www.w3.org/2007/rif#",
    "rr": "http://www.w3.org/ns/r2rml#",
    "sd": "http://www.w3.org/ns/sparql-service-description#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "skosxl": "http://www.w3.org/2008/05/skos-xl#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "time": "http://www.w3.org/2006/time#",
    "void": "http://rdfs.org/ns/void#",
    "wdr": "http://www.w3.org/2007/05/powder#",
    "wdrs": "http://www.w3.org/2007/05/powder-s#",
    "xhv": _XHV,
    "xml": "http://www.w3.org/XML/1998/namespace",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    # Widely used ones.
    "cc": "http://creativecommons.org/ns#",
    "ctag": "http://commontag.org/ns#",
    "dc": "http://purl.org/dc/terms/",
    "dc11": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "gr": "http://purl.org/goodrelations/v1#",
    "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
    "og": "http://ogp.me/ns#",
    "rev": "http://purl.org/stuff/rev#",
    "schema": "http://schema.org/",
    "sioc": "http://rdfs.org/sioc/ns#",
    "v": "http://rdf.data-vocabulary.org/#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    # Open Graph's global types.
    **{name: f"http://ogp.me/ns/{name}#" for name in ("article", "book", "music", "profile", "video", "website")},
}  # fmt: skip

#: Terms of the initial context, and those of XHTML+RDFa 1.0 documents (RDFa in XHTML 1.0 §9.3).
_TERMS = {
    "describedby": "http://www.w3.org/2007/05/powder-s#describedby",
    "license": f"{_XHV}license",
    "role": f"{_XHV}role",
}
_LINK_TYPES_1_0 = frozenset(
    (
        *(
            "alternate",
            "appendix",
            "bookmark",
            "cite",
            "chapter",
            "contents",
            "copyright",
            "first",
            "glossary",
        ),
        *("help", "icon", "index", "last", "license", "meta", "next", "p3pv1", "prev", "role", "section"),
        *("stylesheet", "subsection", "start", "top", "up"),
    )
)
_TERM = re.compile(r"[^\W\d:][^\s:]*")
#: RFC 3986 3.1.
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
#: Declarations read from one attribute.
_MOST_PREFIXES = 200


class Names:
    """What names mean at one element. `vocabulary`: "" for none. `old`: the document is XHTML+RDFa 1.0."""

    __slots__ = ("_resolver", "old", "prefixes", "vocabulary")

    def __init__(
        self, resolver: Resolver, prefixes: Mapping[str, str], vocabulary: str = "", old: bool = False
    ) -> None:
        self._resolver = resolver
        self.prefixes = prefixes
        self.vocabulary = vocabulary
        self.old = old

    def within(self, added: Mapping[str, str], vocabulary: str | None) -> Names:
        """The names inside an element that declares prefixes or a vocabulary (None: the one around it)."""
        if not added and vocabulary is None:
            return self
        kept = self.vocabulary if vocabulary is None else vocabulary
        return Names(self._resolver, {**self.prefixes, **added} if added else self.prefixes, kept, self.old)

    def term(self, name: str, *, link: bool = False) -> str | None:
        """TERMorCURIEorAbsIRI: what `property`, `typeof`, `datatype`, `rel` and `rev` hold (`link`: the last two)."""
        if ":" not in name:
            if not _TERM.fullmatch(name):
                return None
            if self.old:
                return _XHV + name.lower() if link and name.lower() in _LINK_TYPES_1_0 else None
            return self.vocabulary + name if self.vocabulary else _TERMS.get(name.lower())
        found = self._curie(name)
        return found if found is not None else name if _ABSOLUTE.match(name) else None

    def resource(self, text: str) -> str | None:
        """SafeCURIEorCURIEorIRI: what `about` and `resource` hold. None: a safe CURIE that means nothing."""
        text = text.strip()
        if text.startswith("[") and text.endswith("]"):
            return self._curie(text[1:-1])
        return self._curie(text) or self.address(text)

    def address(self, text: str) -> str:
        """An IRI in `href` or `src`, absolute. The empty one is the document."""
        text = text.strip()
        if not text:
            return self._resolver.base.partition("#")[0]
        if _ABSOLUTE.match(text) and not text.lower().startswith(("http:", "https:")):
            return text
        return self._resolver.absolute(text)

    def _curie(self, text: str) -> str | None:
        prefix, colon, reference = text.partition(":")
        if not colon or reference.startswith("//"):
            return None
        if prefix == "_":
            return f"_:n{reference}"
        if not prefix:
            return _XHV + reference
        namespace = self.prefixes.get(prefix.lower())
        return namespace + reference if namespace is not None else None


def prefix_mappings(attributes: Mapping[str, str | None]) -> dict[str, str]:
    """Prefixes an element declares: `xmlns:p` (as in XHTML), then `prefix`, which wins. `_` is none (§7.5.3)."""
    found = {
        name[6:].lower(): value or ""
        for name, value in attributes.items()
        if name.startswith("xmlns:") and name not in ("xmlns:", "xmlns:_")
    }
    words = (attributes.get("prefix") or "").split()
    for name, address in zip(words[0::2], words[1::2], strict=False):
        if name.endswith(":") and name != "_:" and len(found) < _MOST_PREFIXES:
            found[name[:-1].lower()] = address
    return found
