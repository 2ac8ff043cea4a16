"""Everything structured that a page says about itself, from the tree that was parsed anyway."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import re2
from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..css import css, css_first
from . import microdata, microformats, opengraph, rdfa
from .addresses import Resolver
from .dublin_core import DublinCore, Vocabulary, is_dublin_core
from .json_ld import is_json_ld_type, parse_block

__all__ = ["StructuredData", "extract"]

#: Elements of one kind that are read; pages in earnest have at most some dozens.
_MAX_ELEMENTS = 2_000
#: What RDFa has that Open Graph has not.
_RDFA = "[typeof],[vocab],[resource],[about]"
#: Classes that stand on every page with microformats worth the name.
_CLASSES = (
    *("h-entry", "h-card", "h-event", "h-feed", "h-product", "h-recipe", "h-review"),
    *("hentry", "vcard", "vevent", "hproduct"),
)
_MICROFORMATS = ",".join(f".{name}" for name in _CLASSES)
#: The marks of formats that most pages have not, asked for in one walk: 8 µs each.
_RARER = f"[itemscope],{_RDFA},{_MICROFORMATS}"
#: Octets without which none of these is there, looked for in a third of the walk's time. Numbered cases, each wider than
#: its mark: 1. a name that prose rarely has; 2. one that it has, with a value: without one it names the page itself, whose
#: own properties are no RDFa here; 3. a class; 4. one that may be spelled with character references.
_MAYBE = (
    r"[\s\"'/](?:itemscope|typeof|vocab)[\s=/>]"
    r"|[\s\"'/](?:about|resource)\s*="
    rf"|{'|'.join(_CLASSES)}"
    r"""|class\s*=\s*(?:"[^"]*&|'[^']*&|[^\s"'>]*&)"""
)
_OCTETS = re2.Options()
_OCTETS.encoding = re2.Options.Encoding.LATIN1  # any octet is a character: markup need not be UTF-8
_OCTETS.case_sensitive = False
_may_have = re2.compile(_MAYBE.encode(), _OCTETS).search


@dataclass(slots=True)
class StructuredData:
    """What was found, each format in document order, nothing merged between formats.

    A page without any of it has empty lists and is false.
    """

    #: Objects as written, top-level arrays flattened, `@graph` left in place.
    json_ld: list[dict[str, Any]] = field(default_factory=list)
    #: Items: see `microdata`.
    microdata: list[microdata.Item] = field(default_factory=list)
    #: (name in lower case, content); `twitter:` and other prefixes of `opengraph.PREFIXES` included.
    opengraph: list[tuple[str, str]] = field(default_factory=list)
    dublin_core: list[DublinCore] = field(default_factory=list)
    #: The other `meta name` elements: (name in lower case, content).
    meta: list[tuple[str, str]] = field(default_factory=list)
    #: Nodes: see `rdfa`. Not read of pages that only have properties of themselves, such as `meta property`: Open Graph
    #: is in `opengraph`.
    rdfa: list[rdfa.Node] = field(default_factory=list)
    #: Items: see `microformats`; those whose type has a meaning.
    microformats: list[microformats.Item] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(
            self.json_ld
            or self.microdata
            or self.opengraph
            or self.dublin_core
            or self.rdfa
            or self.microformats
        )


def extract(
    tree: LexborHTMLParser,
    base_url: str,
    elements: Iterable[LexborNode] | None = None,
    markup: bytes | None = None,
) -> StructuredData:
    """Structured data of a page. `base_url` is the page's address ("" where unknown: addresses stay as written);
    a `base` element is honoured. What the caller knows already need not be looked for: `elements` are the `meta`
    and `script` elements in document order, `markup` is what was parsed.

    Never raises, bounded. Costs a pass of the selector engine and one over the octets, 40 µs each, on a page that has
    none; microdata, RDFa and microformats are read only where their marks are found.
    """
    data = StructuredData()
    resolver = Resolver(tree, base_url)
    vocabulary: Vocabulary | None = None
    for node in islice(css(tree, "meta,script") if elements is None else elements, _MAX_ELEMENTS):
        given = node.attrs
        if node.tag == "script":
            kind = given.get("type")
            if kind and is_json_ld_type(kind):
                found, problem = parse_block(node.text(deep=True))
                data.json_ld += found
                if problem is not None:
                    data.problems.append(problem)
            continue
        content = given.get("content")
        if content is None:
            continue
        for name in (given.get("property"), given.get("name")):
            if not name:
                continue
            names = opengraph.property_names(name)
            if names:
                data.opengraph += [(each, opengraph.value(each, content, resolver)) for each in names]
                break
            if is_dublin_core(name.strip()):
                vocabulary = vocabulary or Vocabulary(tree)
                statement = vocabulary.statement(node, name.strip())
                if statement is not None:
                    data.dublin_core.append(statement)
                    break
            data.meta.append((name.strip().lower(), content.strip()))
            break
    if vocabulary is not None:
        data.dublin_core += vocabulary.links(tree, resolver)
    if (markup is None or _may_have(markup) is not None) and css_first(tree, _RARER) is not None:
        if tree.css_first("[itemscope]") is not None:
            data.microdata = microdata.items(tree, resolver, data.problems)
        if tree.css_first(_RDFA) is not None:
            data.rdfa = rdfa.nodes(tree, resolver, data.problems)
        if tree.css_first(_MICROFORMATS) is not None:
            found = microformats.items(tree, resolver, data.problems)
            data.microformats = [item for item in found if microformats.says_something(item)]
    data.problems = list(dict.fromkeys(data.problems))[:50]
    return data
