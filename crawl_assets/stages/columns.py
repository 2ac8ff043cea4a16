"""Columns as Dagster shows them: what a stored body consists of, and from which part of it each table column comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import dagster as dg

#: Key of the asset these columns belong to.
RAW = "raw_html"

__all__ = ["BODY_COLUMNS", "item_schema", "lineage"]

#: What the page store holds of each current page.
BODY_COLUMNS = dg.TableSchema(
    [
        dg.TableColumn(name, type=kind, description=meaning)
        for name, kind, meaning in (
            ("url", "string", "Canonical URL"),
            ("domain", "string", "host[:port], the partition key"),
            ("final_url", "string", "URL that answered"),
            ("status", "int", "HTTP status"),
            ("headers", "list", "Response headers as received, order and repeats kept"),
            ("body", "bytes", "Decoded body, stored compressed, each distinct one once"),
            ("content_hash", "bytes", "xxh3-128 of the decoded body"),
            ("body_bytes", "int", "Length of the decoded body"),
            ("encoding", "string", "WHATWG name of the encoding, as sniffed when fetched"),
            ("fetched_at", "timestamp", "When this body was received"),
            ("validated_at", "timestamp", "Last 200 or 304: what freshness counts from"),
            ("first_seen_at", "timestamp", "First version of this URL"),
            ("changed_at", "timestamp", "When the content hash last changed"),
            ("depth", "int", "Links away from a seed or sitemap entry"),
            ("run_id", "string", "Run that fetched this body"),
        )
    ]
)

_STORED = frozenset(c.name for c in BODY_COLUMNS.columns)
#: Columns that are a part of the stored page under another name.
_RENAMED = {"content_type": "headers", "from_url": "url"}
#: Columns that come from the code that makes the row.
_OF_THE_PARSER = frozenset({"parser_version"})
#: Of an item these tell of the item and of its row, not of the page they share a name with.
_OF_THE_ITEM = frozenset({"first_seen_at", "changed_at"})


def lineage(columns: Iterable[str], *, item: bool = False, prefix: str = "") -> dg.TableColumnLineage:
    """Where the columns of `pages`, `links` or (`item`) of an item table come from. Numbered cases:

    1. a part of the stored page, as it is; 2. such a part under another name; 3. the parser itself: no source;
    4. everything else is read out of the body. `prefix`: put before the names of the columns.
    """
    found: dict[str, list[dg.TableColumnDep]] = {}
    for name in columns:
        if name in _OF_THE_PARSER or (item and name == "run_id"):
            continue
        source = _RENAMED.get(name, name)
        if source not in _STORED or (item and name in _OF_THE_ITEM):
            source = "body"
        found[prefix + name] = [dg.TableColumnDep(asset_key=dg.AssetKey(RAW), column_name=source)]
    return dg.TableColumnLineage(found)


def item_schema(kinds: Mapping[str, dg.TableSchema]) -> tuple[dg.TableSchema, dg.TableColumnLineage]:
    """Schema and lineage of the item tables together: with several types a column is `type.column`."""
    many = len(kinds) > 1
    columns: list[dg.TableColumn] = []
    sources: dict[str, list[dg.TableColumnDep]] = {}
    for kind, schema in kinds.items():
        prefix = f"{kind}." if many else ""
        columns += [
            dg.TableColumn(prefix + c.name, type=c.type, description=c.description, constraints=c.constraints)
            for c in schema.columns
        ]
        of_kind = lineage((c.name for c in schema.columns), item=True, prefix=prefix)
        sources |= {name: list(deps) for name, deps in of_kind.deps_by_column.items()}
    return dg.TableSchema(columns), dg.TableColumnLineage(sources)
