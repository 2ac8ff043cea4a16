"""Items of a page: rows of their tables, or rejects with the reason and what was found.

Nothing is dropped: an item whose required field is missing or whose text is not of its type becomes one row of
`rejected_items`, with the raw texts of all its fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from resources.extract.values import BadValue
from resources.site.item_types import ItemType
from resources.site.patterns import PatternSet
from resources.web.css import css
from resources.web.structured_data import StructuredData

from .columns import field_columns
from .field_reader import FieldReader, PageContext

__all__ = ["ItemExtractor", "ItemRow", "RejectedRow"]

#: Items of one type on one page; a page with more is a dump, and the rest is told in one reject.
MAX_ITEMS = 5_000
#: Characters of raw text kept of each field of a reject.
MAX_RAW = 500


@dataclass(slots=True)
class ItemRow:
    """`values` in the order of `field_columns`."""

    kind: str
    key: str
    index: int
    values: tuple[Any, ...]


@dataclass(slots=True)
class RejectedRow:
    """`reason` is a word: missing_required, bad_value, too_many_items, parser_crash, parser_hang, parser_error."""

    kind: str
    index: int
    field: str
    reason: str
    detail: str
    raw: str  # JSON object: field → list of texts


class _Kind:
    """One item type, compiled."""

    def __init__(self, name: str, rule: ItemType) -> None:
        self.name = name
        self.rule = rule
        self.patterns = PatternSet(rule.match)
        names = {column.name for column in field_columns(rule)} - set(rule.fields)
        self.readers = [
            FieldReader(field, each, has_currency_column=f"{field}_currency" in names)
            for field, each in rule.fields.items()
        ]


class ItemExtractor:
    """All item types of a site, compiled once."""

    def __init__(self, items: Mapping[str, ItemType]) -> None:
        self._kinds = [_Kind(name, rule) for name, rule in items.items()]

    def __bool__(self) -> bool:
        return bool(self._kinds)

    def needs_data(self) -> bool:
        """Whether any field reads structured data."""
        return any(reader.rule.data is not None for kind in self._kinds for reader in kind.readers)

    def extract(
        self,
        tree: LexborHTMLParser,
        url: str,
        data: StructuredData,
        absolute: Callable[[str], str | None],
    ) -> tuple[list[ItemRow], list[RejectedRow]]:
        """Rows and rejects of the page at `url`, by type and position."""
        rows: list[ItemRow] = []
        rejects: list[RejectedRow] = []
        page = PageContext(data, absolute)
        for kind in self._kinds:
            if kind.patterns.first(url) is None:
                continue
            scopes: list[LexborHTMLParser | LexborNode] = [tree]
            if kind.rule.each is not None:
                # A list of selectors may give an element more than once.
                scopes = list({node.mem_id: node for node in css(tree, kind.rule.each)}.values())
            for index, scope in enumerate(scopes):
                if index >= MAX_ITEMS:
                    words = f"{len(scopes):,} items on one page; the first {MAX_ITEMS:,} were read"
                    rejects.append(RejectedRow(kind.name, index, "", "too_many_items", words, "{}"))
                    break
                self._one(kind, scope, index, url, page, rows, rejects)
        return rows, rejects

    def _one(
        self,
        kind: _Kind,
        scope: LexborHTMLParser | LexborNode,
        index: int,
        url: str,
        page: PageContext,
        rows: list[ItemRow],
        rejects: list[RejectedRow],
    ) -> None:
        values: list[Any] = []
        raws: dict[str, list[str]] = {}
        faults: list[tuple[str, str, str]] = []
        by_name: dict[str, Any] = {}
        for reader in kind.readers:
            raw = raws[reader.name] = reader.raw(scope, page)
            if not raw and reader.rule.required:
                faults.append(
                    (reader.name, "missing_required", f"{reader.name}: required, and not on the page")
                )
                continue
            try:
                typed = reader.typed(raw, page)
            except BadValue as fault:
                faults.append((reader.name, "bad_value", f"{reader.name}: {fault}"))
                continue
            values += typed
            by_name[reader.name] = typed[0]
        if faults:
            shown = {name: [text[:MAX_RAW] for text in texts] for name, texts in raws.items() if texts}
            rejects.append(
                RejectedRow(
                    kind.name, index, faults[0][0], faults[0][1], "; ".join(f[2] for f in faults)[:2_000],
                    json.dumps(shown, ensure_ascii=False),
                )
            )  # fmt: skip
            return
        rows.append(ItemRow(kind.name, self._key(kind.rule, by_name, url, index), index, tuple(values)))

    @staticmethod
    def _key(rule: ItemType, by_name: Mapping[str, Any], url: str, index: int) -> str:
        """Numbered cases: 1. one key field: its text; 2. several: a JSON list; 3. none: the URL, with position."""
        if len(rule.key) == 1:
            return str(by_name[rule.key[0]])
        if rule.key:
            return json.dumps([str(by_name[name]) for name in rule.key], ensure_ascii=False)
        return url if rule.each is None else f"{url}#{index}"
