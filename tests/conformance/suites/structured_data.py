"""08-structured-data: JSON-LD, microdata, RDFa, microformats, Open Graph, Dublin Core, and the summary of a page.

The samples of extruct expect its own shapes; they are compared by meaning. Its choices that are no part of a
format (blanks folded in values, plain `description` counted as Dublin Core, `value` for items without
properties) are not compared. RDFa is compared as a graph: nodes without a name by what is said of them, XML literals
without blanks and the namespaces around them; and languages only where extruct reads them, which is in `xml:lang`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from resources.web.structured_data import StructuredData, extract, microformats, rdfa, summarize
from resources.web.structured_data.addresses import Resolver
from resources.web.structured_data.dublin_core import is_dublin_core

from ..case import Case, Check, Suite

__all__ = ["SUITE"]


def _parse(given: Mapping[str, Any], folder: Path) -> LexborHTMLParser:
    if "file" in given:
        return LexborHTMLParser((folder / given["file"]).read_bytes().decode("utf-8", "replace"))
    return LexborHTMLParser(given["html"])


def _judge_own(case: Case, folder: Path) -> Iterator[Check]:
    given, expected = case["input"], case["expected"]
    tree = _parse(given, folder)
    data = extract(tree, given["base_url"])
    wrong = ""
    got: Any
    if isinstance(expected, dict) and "no_crash" in expected:
        got = expected
    elif given["syntax"] == "json_ld":
        got = data.json_ld
    elif given["syntax"] == "microdata":
        got, expected = [_item(each) for each in data.microdata], [_item(each) for each in expected]
    elif given["syntax"] == "opengraph":
        got = [list(pair) for pair in data.opengraph]
        if isinstance(expected, dict):
            got = {key: [v for k, v in got if k == key] for key in expected}
            expected = {key: value if isinstance(value, list) else [value] for key, value in expected.items()}
    else:
        summary = summarize(tree, data)
        got = {key: getattr(summary, key.removesuffix("_any_of")) for key in expected}
        for key, value in expected.items():
            if key.endswith("_any_of") and got[key] in value:
                got[key] = value
    if got != expected:
        wrong = f"{got!r}, expected {expected!r}"
    yield Check(case["id"], case.get("level", "must"), not wrong, wrong)


def _judge_extruct(case: Case, folder: Path) -> Iterator[Check]:
    given, expected = case["input"], case["expected"]
    tree, base_url = _parse(given, folder), given["base_url"] or ""
    data = extract(tree, base_url)
    # The product reads these two only where their marks are; here they are asked for in any case.
    data.rdfa = rdfa.nodes(tree, Resolver(tree, base_url), [])
    data.microformats = microformats.items(tree, Resolver(tree, base_url), [])
    syntax = given["syntax"]
    parts = {syntax: expected} if isinstance(expected, list) else expected
    for name, wanted in parts.items():
        differ = _COMPARE.get(name.replace("-", "_"))
        identity = case["id"] if len(parts) == 1 else f"{case['id']}/{name}"
        if differ is None:
            yield Check(identity, "not extracted", not wanted, f"{name} is not among the formats extracted")
            continue
        wrong = differ(data, wanted)
        yield Check(identity, case.get("level", "must"), not wrong, wrong)


def _difference(got: object, expected: object) -> str:
    return "" if got == expected else f"{got!r}, expected {expected!r}"


def _json_ld(data: StructuredData, expected: list[Any]) -> str:
    return _difference(data.json_ld, expected)


def _microdata(data: StructuredData, expected: list[Any]) -> str:
    wanted = [_item(_from_uniform(each)) for each in expected]
    return _difference([_item(each, folded=True) for each in data.microdata], wanted)


def _item(value: Any, *, folded: bool = False) -> Any:
    """An item with every value in a list; a value as text, its blanks out of the way when `folded`."""
    if not isinstance(value, dict):
        return "".join(str(value).split()) if folded else value
    properties = value.get("properties", {})
    types = value.get("type", [])
    return {
        "type": types if isinstance(types, list) else [types],
        "id": value.get("id"),
        "properties": {
            name: [_item(each, folded=folded) for each in (values if isinstance(values, list) else [values])]
            for name, values in properties.items()
        },
    }


def _from_uniform(value: Any) -> Any:
    """extruct's `uniform` form of an item as its ordinary one, and values without their blanks."""
    if isinstance(value, list):
        return [_from_uniform(each) for each in value]
    if not isinstance(value, dict):
        return "".join(str(value).split())
    if "properties" in value or "value" in value or "@type" not in value:
        inner = {name: _from_uniform(each) for name, each in value.get("properties", {}).items()}
        return {**value, "properties": inner}
    context = value.get("@context", "http://schema.org")
    inner = {name: _from_uniform(each) for name, each in value.items() if not name.startswith("@")}
    return {"type": f"{context}/{value['@type']}", "properties": inner}


def _opengraph(data: StructuredData, expected: list[Any]) -> str:
    if not expected:
        return _difference(data.opengraph, [])
    wanted = expected[0]
    if "properties" in wanted:
        namespaces = wanted["namespace"]
        got = [list(pair) for pair in data.opengraph if pair[0].partition(":")[0] in namespaces]
        return _difference(got, wanted["properties"])
    names = {"@type": "og:type"}
    problems = []
    for name, value in wanted.items():
        if name == "@context":
            continue
        values = [content for key, content in data.opengraph if key == names.get(name, name)]
        problems.append(_difference(values if isinstance(value, list) else values[0], value))
    return "; ".join(problem for problem in problems if problem)


def _dublin_core(data: StructuredData, expected: list[Any]) -> str:
    wanted = [
        (
            each.get("name") or each["rel"],
            each["URI"],
            each.get("content") or each["href"],
            each.get("scheme"),
        )
        for each in [*expected[0]["elements"], *expected[0]["terms"]]
        if is_dublin_core(each.get("name") or each["rel"])
    ]
    # The uniform form moves the type out of the elements.
    kind = expected[0].get("@type")
    statements = [each for each in data.dublin_core if not (kind and each.term == "type")]
    got = [
        (each.name, each.uri, each.content, each.scheme)
        for each in sorted(statements, key=lambda e: e.is_term)
    ]
    return _difference(got, wanted)


def _rdfa(data: StructuredData, expected: list[Any]) -> str:
    languages = "@language" in json.dumps(expected)
    got, wanted = _statements(data.rdfa, languages), _statements(expected, languages)
    missing, surplus = sorted(wanted - got)[:5], sorted(got - wanted)[:5]
    return f"missing {missing!r}, surplus {surplus!r}" if missing or surplus else ""


def _statements(nodes: list[Any], languages: bool) -> set[tuple[str, str, str]]:
    """Subject, property and value of every statement, a node without a name by the statements about it."""
    names = {node["@id"]: node["@id"] for node in nodes}
    for _ in range(4):  # nodes without a name that speak of each other that deep
        for node in nodes:
            if node["@id"].startswith("_:"):
                about = [
                    (name, _told(v, names, languages))
                    for name, vs in node.items()
                    if name != "@id"
                    for v in vs
                ]
                names[node["@id"]] = "_:" + hashlib.sha256(repr(sorted(about)).encode()).hexdigest()
    return {
        (names[node["@id"]], name, _told(value, names, languages))
        for node in nodes
        for name, values in node.items()
        if name != "@id"
        for value in values
    }


def _told(value: Any, names: Mapping[str, str], languages: bool) -> str:
    if isinstance(value, str):
        return value
    told = {key: each for key, each in value.items() if languages or key != "@language"}
    if "@id" in told:
        name = told["@id"]
        told["@id"] = names.get(name, "_:" if name.startswith("_:") else name)
    if str(told.get("@type", "")).endswith("#XMLLiteral"):
        told["@value"] = "".join(re.sub(r' xmlns(:\w+)?="[^"]*"', "", told["@value"]).split())
    return json.dumps(told, sort_keys=True)


def _microformats(data: StructuredData, expected: list[Any]) -> str:
    return _difference(
        [_not_uniform(each) for each in data.microformats], [_not_uniform(each) for each in expected]
    )


def _not_uniform(value: Any) -> Any:
    """extruct's `uniform` form of an item as its ordinary one."""
    if isinstance(value, list):
        return [_not_uniform(each) for each in value]
    if not isinstance(value, dict) or ("type" not in value and "@type" not in value):
        return value
    inner = value.get("properties")
    if inner is None:
        apart = ("@type", "@context", "children", "value", "html", "id")
        inner = {name: each for name, each in value.items() if name not in apart}
    kept = {key: value[key] for key in ("value", "html", "id") if key in value}
    if "children" in value:
        kept["children"] = [_not_uniform(each) for each in value["children"]]
    properties = {name: [_not_uniform(each) for each in values] for name, values in inner.items()}
    return {"type": value.get("type", value.get("@type")), "properties": properties, **kept}


_COMPARE = {
    "rdfa": _rdfa,
    "microformat": _microformats,
    "json_ld": _json_ld,
    "microdata": _microdata,
    "opengraph": _opengraph,
    "dublincore": _dublin_core,
}

SUITE = Suite("08-structured-data", {"own.json": _judge_own, "extruct.json": _judge_extruct})
