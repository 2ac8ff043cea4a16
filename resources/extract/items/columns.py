"""The columns of an item table: what each field becomes in SQL."""

from __future__ import annotations

from typing import NamedTuple

from resources.site.item_types import FieldRule, ItemType

__all__ = ["ITEM_COLUMNS", "Column", "field_columns"]


class Column(NamedTuple):
    """A column: its name, DuckDB type and comment."""

    name: str
    type: str
    comment: str


#: Columns every item table begins with.
ITEM_COLUMNS = (
    Column("url", "VARCHAR", "Canonical URL of the page the item stands on"),
    Column("domain", "VARCHAR", "host[:port] of that page"),
    Column("item_key", "VARCHAR", "What identifies the item within its domain: the key fields, else the URL"),
    Column("item_index", "INTEGER", "Position on the page, from 0"),
    Column("content_hash", "VARCHAR", "xxh3-128 of the page's body, hexadecimal"),
    Column("fetched_at", "TIMESTAMPTZ", "When that body was received"),
    Column("first_seen_at", "TIMESTAMPTZ", "When an item of this key was first met"),
    Column("changed_at", "TIMESTAMPTZ", "When a field of the item last changed"),
    Column("run_id", "VARCHAR", "Run that made the row"),
    Column("parser_version", "VARCHAR", "Version of the parser that made the row"),
)

_TYPES = {
    "text": "VARCHAR",
    "number": "DOUBLE",
    "integer": "BIGINT",
    "money": "DECIMAL(18,4)",
    "date": "DATE",
    "boolean": "BOOLEAN",
    "list": "VARCHAR[]",
    "url": "VARCHAR",
}


def _comment(rule: FieldRule) -> str:
    source = rule.css or rule.data or f"constant {rule.constant!r}"
    if rule.attribute:
        source += f" @{rule.attribute}"
    return rule.description or f"{rule.type} from {source}"


def field_columns(kind: ItemType) -> list[Column]:
    """Columns of the fields in their order; money has `<field>_currency` after it, unless a field has that name."""
    columns: list[Column] = []
    for name, rule in kind.fields.items():
        columns.append(Column(name, _TYPES[rule.type], _comment(rule)))
        beside = f"{name}_currency"
        if rule.type == "money" and beside not in kind.fields:
            columns.append(
                Column(beside, "VARCHAR", f"ISO 4217 code of {name}; NULL where nothing names one")
            )
    return columns
