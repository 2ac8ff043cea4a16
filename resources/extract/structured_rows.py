"""The rows of a page in the `structured_data` table: one for each JSON-LD object, microdata item, RDFa node and
microformat, one for all Open Graph names of the page and one for all Dublin Core terms."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from resources.web.structured_data import StructuredData

__all__ = ["StructuredRow", "structured_rows"]

#: (format, position, type, data as JSON)
StructuredRow: TypeAlias = tuple[str, int, str | None, str]

#: Beginnings of RDFa properties that other rows hold, or that say nothing of the page.
_NO_NEWS = (
    "http://www.w3.org/ns/rdfa#",
    "http://ogp.me/ns",
    "https://ogp.me/ns",
    "http://opengraphprotocol.org/",
)
#: Objects of one page; a category page has one for each product.
MAX_OBJECTS = 1_000


def structured_rows(data: StructuredData) -> list[StructuredRow]:
    """Rows in document order per format; `type` is the last part of the first schema.org type."""
    rows: list[StructuredRow] = []
    for position, item in enumerate(data.json_ld[:MAX_OBJECTS]):
        rows.append(("jsonld", position, _type(item.get("@type")), _json(item)))
    for position, item in enumerate(data.microdata[:MAX_OBJECTS]):
        rows.append(("microdata", position, _type(item.get("type")), _json(item)))
    described = [node for node in data.rdfa if not _said_already(node)]
    for position, node in enumerate(described[:MAX_OBJECTS]):
        rows.append(("rdfa", position, _type(node.get("@type")), _json(node)))
    for position, item in enumerate(data.microformats[:MAX_OBJECTS]):
        rows.append(("microformats", position, _type(item["type"]), _json(item)))
    if data.opengraph:
        values = _gathered(data.opengraph)
        kind = values.get("og:type")
        rows.append(("opengraph", 0, kind if isinstance(kind, str) else None, _json(values)))
    if data.dublin_core:
        rows.append(("dublin_core", 0, None, _json(_gathered((d.term, d.content) for d in data.dublin_core))))
    return rows


def _said_already(node: dict[str, Any]) -> bool:
    """Whether a node says nothing but what vocabulary the page uses, and its Open Graph names."""
    return all(name == "@id" or name.startswith(_NO_NEWS) for name in node)


def _gathered(pairs: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    """Names that occur once as text, others as a list."""
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _type(given: Any) -> str | None:
    first = given[0] if isinstance(given, list) and given else given
    return re.split(r"[/#:]", first.rstrip("/"))[-1][:200] if isinstance(first, str) and first else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
