"""What the crawl starts from and does not make: the web, and the user's site files.

Groups are numbered, because the UI's lists sort them by name: so they stand in the order data flows.
"""

from __future__ import annotations

import dagster as dg

from crawl_assets.partitions import domains

__all__ = ["SITE_FILES", "THE_WEB"]

THE_WEB = dg.AssetSpec(
    "the_web",
    description="The sites themselves. Nothing here is ours; we only ask, politely.",
    group_name="1_sources",
    kinds={"source"},
    owners=["team:crawl"],
)

SITE_FILES = dg.AssetSpec(
    "site_files",
    description=(
        "The user's `sites/*.yaml`, by domain.\n\n"
        "The sensor `site_files` looks at them every half minute: new domains become partitions, removed ones are "
        "retired with their data kept, and a change of what is extracted is observed here as a new data version, "
        "which shows the tables of exactly those domains as unsynced."
    ),
    group_name="1_sources",
    kinds={"file"},
    partitions_def=domains,
    owners=["team:crawl"],
)
