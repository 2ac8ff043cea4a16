"""One value of a page's structured data, by a path that fits in a site file.

Grammar:

    path      = "jsonld:" type steps | "microdata:" type steps | "rdfa:" type steps
              | "mf2:" type steps | "dc:" term | "meta:" name | name
    type      = "*" | the last part of a schema.org type, as `Product` (case as in schema.org)
    steps     = "." property steps | nothing
    name      = an Open Graph name: "og:title", "og:image:width", "twitter:title", "article:tag"

    jsonld:Product.offers.price     jsonld:*.name      microdata:Product.brand.name
    rdfa:Product.offers.price    mf2:h-card.email
    og:title      dc:creator      dcterms:issued      meta:description

Every match is given, in document order: lists are gone through, `@graph` and nested objects are searched for
the type. Without steps the whole objects are given as JSON. `@id`, `@type` and `@value` are properties like any
other; an object that has `@value` stands for it. Microdata's `id` and `type` are `@id` and `@type` too. RDFa's types
and properties are named by the last part of their address, and a step goes on to the node a value names. Of a
microformat that is a value, its `value` is given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .extract import StructuredData
from .opengraph import PREFIXES

__all__ = ["Path", "compile_path", "lookup"]

#: Values given for one path.
_MOST = 1_000
_TYPE = re.compile(r"\*|[A-Za-z][\w-]*")
_STEP = re.compile(r"@?[A-Za-z_][\w:-]*")


@dataclass(frozen=True, slots=True)
class Path:
    """A path, read. `source`: jsonld, microdata, rdfa, mf2, dc, meta or opengraph."""

    source: str
    #: The type, term or name.
    name: str
    steps: tuple[str, ...] = ()


@lru_cache(maxsize=1_024)
def compile_path(path: str) -> Path:
    """Read a path; ValueError, with the reason, where it is none (call it when a site file is checked)."""
    source, colon, rest = path.partition(":")
    if not colon or not rest or path != path.strip():
        raise ValueError(
            f"{path!r} is no path to structured data: write SOURCE:NAME, such as jsonld:Product.offers.price, "
            "microdata:Product.name, rdfa:Product.name, mf2:h-card.name, og:title, dc:creator or meta:description"
        )
    if source in ("jsonld", "microdata", "rdfa", "mf2"):
        name, *steps = rest.split(".")
        if not _TYPE.fullmatch(name):
            raise ValueError(
                f"{path!r}: {name!r} is no type; write the last part of its address, or * for any"
            )
        for step in steps:
            if not _STEP.fullmatch(step):
                raise ValueError(f"{path!r}: {step!r} is no property name")
        return Path(source, name, tuple(steps))
    if source in ("dc", "dcterms"):
        if not re.fullmatch(r"[A-Za-z]+", rest):
            raise ValueError(f"{path!r}: {rest!r} is no Dublin Core term; write one word, such as dc:creator")
        return Path("dc", rest.lower())
    if source == "meta":
        if any(character.isspace() for character in rest):
            raise ValueError(f"{path!r}: a meta name has no blanks")
        return Path("meta", rest.lower())
    if source.lower() in PREFIXES:
        if not re.fullmatch(r"[\w-]+(:[\w-]+)*", rest):
            raise ValueError(f"{path!r}: {rest!r} is no property name; write such as og:image:width")
        return Path("opengraph", path.lower())
    known = ", ".join(["jsonld", "microdata", "rdfa", "mf2", "dc", "dcterms", "meta", *sorted(PREFIXES)])
    raise ValueError(f"{path!r}: unknown source {source!r}; known are {known}")


def lookup(data: StructuredData, path: str) -> list[str]:
    """The values at a path, as text: numbers and booleans in JSON's spelling, objects as JSON.

    Empty values and null are left out. ValueError for a malformed path.
    """
    where = compile_path(path)
    found: Iterator[Any]
    match where.source:
        case "opengraph":
            found = (content for name, content in data.opengraph if name == where.name)
        case "meta":
            found = (content for name, content in data.meta if name == where.name)
        case "dc":
            found = (each.content for each in data.dublin_core if each.term.lower() == where.name)
        case "microdata":
            found = _walk(data.microdata, where)
        case "mf2":
            found = map(_microformat, _walk(data.microformats, where))
        case "rdfa":
            found = _walk_graph(data.rdfa, where)
        case _:
            found = _walk(data.json_ld, where)
    values = []
    for value in found:
        text = _text(value)
        if text:
            values.append(text)
            if len(values) >= _MOST:
                break
    return values


def _walk(roots: list[dict[str, Any]], path: Path) -> Iterator[Any]:
    for item in _typed(roots, path.name):
        values: list[Any] = [item]
        for step in path.steps:
            values = [inner for value in values for inner in _property(value, step)]
        yield from values


def _microformat(value: Any) -> Any:
    """What a value is called, of one that is more than a text."""
    return value["value"] if isinstance(value, dict) and isinstance(value.get("value"), str) else value


def _walk_graph(nodes: list[dict[str, Any]], path: Path) -> Iterator[Any]:
    by_name = {node["@id"]: node for node in nodes}
    for node in nodes:
        if path.name != "*" and path.name not in map(_last_part, node.get("@type", ())):
            continue
        values: list[Any] = [node]
        for step in path.steps:
            values = [inner for value in values for inner in _graph_property(value, step, by_name)]
        yield from (v["@id"] if isinstance(v, dict) and v.keys() == {"@id"} else v for v in values)


def _graph_property(value: Any, step: str, by_name: dict[str, dict[str, Any]]) -> Iterator[Any]:
    """Values of a property of the node that `value` is or names."""
    if not isinstance(value, dict) or "@value" in value:
        return
    node = by_name.get(value["@id"], value) if "@id" in value else value
    if step in ("@id", "@type"):
        found = node.get(step, ())
        yield from [found] if isinstance(found, str) else found
        return
    for name, values in node.items():
        if name[:1] != "@" and _last_part(name) == step:
            for each in values:
                yield from each.get("@list", [each])


def _last_part(address: str) -> str:
    return re.split(r"[/#:]", address.rstrip("/"))[-1]


def _typed(roots: list[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    """Objects of a type, outer before inner; what lies inside a match is searched as well (a Product may have
    Products). Nesting is bounded by what read the data, so a stack is all it takes."""
    waiting: list[Any] = list(reversed(roots))
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict):
            # `*` means the objects of the page, not every object inside of them.
            if name == "*":
                if "@graph" in value:
                    waiting.append(value["@graph"])
                else:
                    yield value
                continue
            if name in _types(value):
                yield value
            waiting += reversed([each for each in value.values() if isinstance(each, (dict, list))])


def _types(item: dict[str, Any]) -> list[str]:
    given = item.get("@type", item.get("type", ()))
    listed = given if isinstance(given, list) else [given]
    return [_last_part(each) for each in listed if isinstance(each, str)]


def _property(value: Any, step: str) -> list[Any]:
    if not isinstance(value, dict):
        return []
    properties = value.get("properties")
    # An object that microdata gave keeps its properties one level down.
    inner = properties if isinstance(properties, dict) else value
    found = inner.get(step)
    if found is None and inner is properties and step in ("@id", "@type"):
        found = value.get(step[1:])
    if found is None:
        return []
    flat: list[Any] = []
    waiting = [found]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += reversed(each)
        else:
            flat.append(each)
    return flat


def _text(value: Any) -> str:
    if isinstance(value, dict):
        if "@value" in value and not isinstance(value["@value"], dict):
            return _text(value["@value"])
        if not value.get("properties", True) and isinstance(value.get("value"), str):
            return str(value["value"])
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, str):
        return " ".join(value.split()) if value.strip() else ""
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)
