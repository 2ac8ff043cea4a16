"""The published tables, and by what a row is told apart from its neighbours within a domain."""

from __future__ import annotations

import duckdb

from resources.warehouse.item_tables import item_types

__all__ = ["KEYS", "OBSERVED", "keys_of", "published_tables"]

#: Table → columns that identify a row within its domain; empty: rows have no identity and are never compared.
KEYS: dict[str, tuple[str, ...]] = {
    "pages": ("url",),
    "gone_pages": ("url",),
    "links": ("from_url", "to_url"),
    "structured_data": ("url", "format", "position"),
    "rejected_items": ("url", "item_type", "item_index", "reason"),
    "failed_urls": ("url",),
    "excluded_urls": ("url",),
    "domains": (),
    "nights": ("night",),
    "row_counts": ("table_name", "run_id"),
    "fetch_log": (),
    "crawl_health": (),
    "workers": ("worker", "run_id"),
}


#: What the crawl saw and did: facts about tonight, also where tonight's content is not fit to be published.
OBSERVED = frozenset(
    {
        "rejected_items",
        "failed_urls",
        "excluded_urls",
        "domains",
        "nights",
        "row_counts",
        "fetch_log",
        "crawl_health",
        "workers",
    }
)


def published_tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Every table that readers get: those of the product, then the item types."""
    return [*KEYS, *item_types(connection)]


def keys_of(table: str) -> tuple[str, ...]:
    """The identity of a row of `table`; item types have their key."""
    return KEYS.get(table, ("item_key",))
