"""`published`: what readers open: a database replaced whole, with tonight's rows of every domain that passed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

from crawl_assets.partitions import domains
from crawl_assets.stages.night import Night
from crawl_assets.stages.reading import reading
from crawl_assets.stages.tables import ITEMS, LINKS, PAGES

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.warehouse.publish.audit import AuditProblem
    from resources.warehouse.publish.publish import PublishReport

__all__ = ["ASSET", "SPEC", "publish_domains"]

ASSET = "published"

SPEC = dg.AssetSpec(
    ASSET,
    deps=[PAGES, LINKS, ITEMS],
    description=(
        "`published.duckdb`: read-only, never locked, replaced whole.\n\n"
        "A domain whose audit or fetch failed keeps its earlier rows and is marked stale with the reason in the table "
        "`domains`; what was observed of the crawl is published in any case.\n\n"
        "**When red:** the domain's rows are of an earlier night. Mend the cause and run `reparse`, or look at what would "
        "change (*against published* in the check that held it back; all of it: `nightcrawl publish --diff`) and "
        "publish by your own decision with the job `publish` and `publish_anyway`."
    ),
    group_name="7_published",
    kinds={"duckdb", "gold"},
    partitions_def=domains,
    skippable=True,
    owners=["team:data"],
)


async def publish_domains(
    night: Night,
    chosen: Sequence[str],
    audited: Mapping[str, Sequence[AuditProblem]],
    changes: Mapping[str, Mapping[str, Any]],
) -> None:
    """Publish `chosen`; domains of the run that fell are marked stale. `audited`: problems found right after the
    load and not forgiven, by domain; `changes`: metadata that says what the publication changes, by domain."""
    from resources.warehouse.connection import WarehouseError
    from resources.warehouse.publish.publish import publish

    failed = {d: f"{f.stage}: {f.words}" for d, f in night.fallen.items()}
    asked = [*chosen, *(d for d in failed if d not in chosen)]
    force = asked if night.config.publish_anyway else ()
    try:
        report = await asyncio.to_thread(
            publish,
            night.installation,
            asked,
            force,
            failed=failed,
            catalog=night.catalog,
            audited=audited,
        )
    except WarehouseError as error:
        for domain in chosen:
            night.fall(domain, ASSET, str(error))
        return
    for domain in chosen:
        why = report.stale.get(domain) or report.withheld.get(domain)
        if why is not None:
            night.fall(domain, ASSET, f"not published: {why}")
        elif domain not in report.published:
            night.fall(domain, ASSET, "the warehouse knows no rows of it: load its tables first")
    for domain in report.published:
        numbers = _numbers(night, domain, report) | dict(changes.get(domain, {}))
        await night.materialized(ASSET, domain, numbers)


def _numbers(night: Night, domain: str, report: PublishReport) -> dict[str, Any]:
    return {
        "path": dg.MetadataValue.path(str(night.installation.published)),
        "published by force": domain in report.forced,
        "file bytes": report.bytes,
        "publish s": round(report.seconds, 3),
        **reading(PAGES, domain),
    }
