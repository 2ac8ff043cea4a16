"""One element of a page with RDFa: of what it speaks, what it says, and what it hands to its children.

Steps 5 to 13 of RDFa Core 1.1 §7.5 in their order, with the rules of HTML+RDFa 1.1 §3.1, and those of XHTML+RDFa 1.0
where a document is of that version. The walk, and the graph that the statements go to, are in `rdfa`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from selectolax.lexbor import LexborNode

from .rdfa_names import Names

if TYPE_CHECKING:
    from .rdfa import Reader

__all__ = ["RDF_TYPE", "Context", "Element", "Lists", "Value"]

Value: TypeAlias = dict[str, Any]

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = f"{_RDF}type"
_MARKUP = {f"{_RDF}XMLLiteral", f"{_RDF}HTML"}
#: The datatype of a `datetime` by its form (HTML+RDFa 1.1 §3.1 rule 10).
_TIMES = tuple(
    (re.compile(form), _XSD + name)
    for form, name in (
        (r"-?P(?=.)(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?", "duration"),
        (r"-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "dateTime"),
        (r"-?\d{4,}-\d\d-\d\d(Z|[+-]\d\d:\d\d)?", "date"),
        (r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "time"),
        (r"-?\d{4,}-\d\d", "gYearMonth"),
        (r"-?\d{4,}", "gYear"),
    )
)

#: Lists under construction, by property.
Lists: TypeAlias = dict[str, list[Value]]


@dataclass(slots=True)
class Incomplete:
    """A statement of `rel` or `rev` that waits for its other end; with `into`, an entry of a list."""

    property: str
    backwards: bool = False
    into: list[Value] | None = None


@dataclass(slots=True)
class Context:
    """The evaluation context (§7.2) that an element hands to its children."""

    parent_subject: str
    parent_object: str
    names: Names
    language: str = ""
    incomplete: list[Incomplete] = field(default_factory=list)
    lists: Lists = field(default_factory=dict)


class Element:
    """One element that says something: steps 5 to 13 of §7.5, in their order."""

    def __init__(
        self,
        reader: Reader,
        node: LexborNode,
        given: Mapping[str, str | None],
        names: Names,
        context: Context,
        *,
        root: bool,
    ) -> None:
        self._reader, self._node, self._given, self._names, self._context = (
            reader,
            node,
            given,
            names,
            context,
        )
        self._root = root
        self.language = ""
        self._properties = self._terms("property")
        self._types = self._terms("typeof")
        self._rel, self._rev = self._links("rel"), self._links("rev")
        self._subject = ""
        self._object = ""
        self._typed = ""

    def _terms(self, attribute: str) -> list[str] | None:
        """The names in an attribute; None when it is not there."""
        if attribute not in self._given:
            return None
        words = (self._given[attribute] or "").split()
        return list(dict.fromkeys(iri for word in words if (iri := self._names.term(word)) is not None))

    def _links(self, attribute: str) -> list[str] | None:
        """Like `_terms`, for `rel` and `rev`. Beside `property` plain words are HTML's and not RDFa's."""
        if attribute not in self._given:
            return None
        words = (self._given[attribute] or "").split()
        if "property" in self._given and not self._reader.old:
            words = [word for word in words if ":" in word]
            if not words:
                return None
        found = (self._names.term(word, link=True) for word in words)
        return list(dict.fromkeys(iri for iri in found if iri is not None))

    def _resource(self, *attributes: str) -> str | None:
        """The IRI in the first of these attributes that has one."""
        for attribute in attributes:
            written = self._given.get(attribute)
            if written is None:
                if attribute not in self._given:
                    continue
                written = ""
            if attribute in ("href", "src"):
                return self._names.address(written)
            found = self._names.resource(written)
            if found is not None:
                return found
        return None

    def read(self) -> tuple[Context, str]:
        context = self._context
        linked = self._rel is not None or self._rev is not None
        skip = False
        if linked:
            self._subject_of_link()
        elif self._names_its_value:
            self._subject_of_property()
        else:
            skip = self._subject_of_anything()
        for kind in self._types or () if self._typed else ():
            self._reader.state(self._typed, RDF_TYPE, {"@id": kind})
        fresh = bool(self._subject) and self._subject != context.parent_object
        lists: Lists = {} if fresh else context.lists
        incomplete: list[Incomplete] = []
        if linked:
            self._link(lists, incomplete)
        if self._properties:
            self._describe(lists)
        if self._subject and not skip:
            self._complete()
        names, language = self._names, self.language
        if skip:
            if names is context.names and language == context.language:
                return context, ""
            return replace(context, names=names, language=language), ""
        inner = Context(
            self._subject or context.parent_subject,
            self._object or self._subject or context.parent_subject,
            names,
            language,
            incomplete,
            lists,
        )
        return inner, self._subject if fresh else ""

    # -- step 5 and 6: of what is spoken ----------------------------------------------------------------
    @property
    def _names_its_value(self) -> bool:
        given = self._given
        return (
            "property" in given
            and "content" not in given
            and "datatype" not in given
            and not self._reader.old
        )

    @property
    def _inherits(self) -> bool:
        """`head` and `body` speak of what the page speaks of (HTML+RDFa 1.1 §3.1)."""
        return self._node.tag in ("head", "body")

    def _subject_of_property(self) -> None:
        """Step 5.1."""
        about = self._resource("about")
        base = self._names.address("")
        self._subject = about or (base if self._root else self._context.parent_object)
        if self._types is None:
            return
        if about or self._root:
            self._typed = self._subject
        else:
            self._typed = self._resource("resource", "href", "src") or self._reader.unnamed()
            self._object = self._typed

    def _subject_of_anything(self) -> bool:
        """Step 5.2; whether the element is skipped."""
        order = (
            ("about", "src", "resource", "href") if self._reader.old else ("about", "resource", "href", "src")
        )
        found = self._resource(*order)
        skip = False
        if found is None:
            if self._root:
                found = self._names.address("")
            elif self._inherits:
                found = self._context.parent_object
            elif self._types is not None:
                found = self._reader.unnamed()
            else:
                found = self._context.parent_object
                skip = "property" not in self._given
        self._subject = found
        if self._types is not None:
            self._typed = found
        return skip

    def _subject_of_link(self) -> None:
        """Step 6."""
        old = self._reader.old
        found = self._resource("about", "src") if old else self._resource("about")
        if found is not None and self._types is not None:
            self._typed = found
        if found is None:
            if self._root:
                found = self._names.address("")
            elif old and self._types is not None and not self._inherits:
                found = self._typed = self._reader.unnamed()
            else:
                found = self._context.parent_object
        self._subject = found
        target = self._resource("resource", "href") if old else self._resource("resource", "href", "src")
        if self._types is not None and not self._typed:
            self._typed = target = target or self._reader.unnamed()
        self._object = target or ""

    # -- step 9 to 12: what is said -----------------------------------------------------------------------
    def _link(self, lists: Lists, incomplete: list[Incomplete]) -> None:
        """Steps 9 and 10."""
        in_list = "inlist" in self._given
        if self._object:
            target: Value = {"@id": self._object}
            for name in self._rel or ():
                if in_list:
                    lists.setdefault(name, []).append(target)
                else:
                    self._reader.state(self._subject, name, target)
            for name in self._rev or ():
                self._reader.state(self._object, name, {"@id": self._subject})
            return
        for name in self._rel or ():
            incomplete.append(Incomplete(name, into=lists.setdefault(name, []) if in_list else None))
        incomplete += [Incomplete(name, backwards=True) for name in self._rev or ()]
        if incomplete:
            self._object = self._reader.unnamed()

    def _describe(self, lists: Lists) -> None:
        """Step 11."""
        value = self._value()
        for name in self._properties or ():
            if "inlist" in self._given:
                self._reader.spend()
                lists.setdefault(name, []).append(value)
            else:
                self._reader.state(self._subject, name, value)

    def _complete(self) -> None:
        """Step 12: statements of elements around this one that waited for its subject."""
        parent = self._context.parent_subject
        for waiting in self._context.incomplete:
            if waiting.into is not None:
                self._reader.spend()
                waiting.into.append({"@id": self._subject})
            elif waiting.backwards:
                self._reader.state(self._subject, waiting.property, {"@id": parent})
            else:
                self._reader.state(parent, waiting.property, {"@id": self._subject})

    def _value(self) -> Value:
        """The current property value (§7.5.11, HTML+RDFa 1.1 §3.1 rules 9 and 10)."""
        given, reader = self._given, self._reader
        datatype = given.get("datatype")
        kind = self._names.term(datatype.strip()) if datatype and datatype.strip() else None
        content = given.get("content") if "content" in given else None
        if "content" in given and content is None:
            content = ""
        if kind in _MARKUP:
            return {"@type": kind, "@value": reader.text(self._node, markup=True)}
        if content is None and "datetime" in given:
            moment = given.get("datetime") or ""
            return {"@type": kind, "@value": moment} if kind else self._moment(moment, datatype)
        if kind is not None:
            return {"@type": kind, "@value": content if content is not None else reader.text(self._node)}
        if content is not None:
            return self._plain(content)
        if reader.old:
            if "datatype" not in given and any(each.is_element_node for each in self._node.iter()):
                return {"@type": f"{_RDF}XMLLiteral", "@value": reader.text(self._node, markup=True)}
            return self._plain(reader.text(self._node))
        if "datatype" not in given:
            if self._rel is None and self._rev is None:
                target = self._resource("resource", "href", "src")
                if target is not None:
                    return {"@id": target}
            if self._typed and self._resource("about") is None:
                return {"@id": self._typed}
            if self._node.tag in ("data", "meter") and given.get("value") is not None:
                return self._plain(given["value"] or "")
        text = reader.text(self._node)
        if self._node.tag == "time" and "datatype" not in given:
            return self._moment(text, datatype)
        return self._plain(text)

    def _moment(self, text: str, datatype: str | None) -> Value:
        kind = next((name for form, name in _TIMES if form.fullmatch(text.strip())), None)
        if datatype is not None or kind is None:
            return self._plain(text)
        return {"@type": kind, "@value": text.strip()}

    def _plain(self, text: str) -> Value:
        return {"@language": self.language, "@value": text} if self.language else {"@value": text}
