"""`night_report`: last night on one page: what happened, what changed, what needs a human."""

# No `from __future__ import annotations` here: Dagster reads the annotations as objects, not as text.

import os
import time
from collections.abc import Iterator
from typing import Any

import dagster as dg
from pydantic import Field

from crawl_assets.checks import forecast
from crawl_assets.partitions import usable_sites
from crawl_assets.stages import course
from crawl_assets.stages.mends import latest_night
from crawl_assets.stages.night_plan import ASSET as PLANNED
from crawl_assets.stages.night_runs import collect, night_records
from crawl_assets.stages.publish import ASSET as PUBLISHED
from crawl_assets.stages.upcoming import zone_of
from resources.installation import Installation
from resources.installation_resource import InstallationResource
from resources.planner.store import load_plan
from resources.reports.facts import NightFacts
from resources.reports.markdown import night_markdown
from resources.reports.needs import needs
from resources.reports.page import headline, night_page
from resources.reports.store import save_report

__all__ = ["ASSET", "ReportConfig", "gather", "night_report"]

ASSET = "night_report"


class ReportConfig(dg.Config):
    """Which night."""

    night: str = Field(default="", description="The night, as in 2026-11-29. Empty: the latest one.")


@dg.asset(
    name=ASSET,
    deps=[PUBLISHED, PLANNED],
    check_specs=[forecast.SPEC],
    description=(
        "Last night on one page: what happened, what changed, what needs you.\n\n"
        "Made by the sensor `night_reports` when all runs of a night have ended, and again when one is added. The page "
        "is a single HTML file in `data/reports/` (no script, nothing loaded from elsewhere): mail it, keep it, read it "
        "on a phone. The metadata `report` shows the same as Markdown. While a night runs, its queue and rate are "
        "observations of this asset: see the plots.\n\n"
        "**When red:** the report could not be made; the log names what could not be read. The night is not touched."
    ),
    group_name="8_report",
    kinds={"report", "gold"},
    owners=["team:crawl"],
    op_tags={"nightcrawl/kind": "report"},
)
def night_report(
    context: dg.AssetExecutionContext, config: ReportConfig, installation: InstallationResource
) -> Iterator[dg.MaterializeResult[None]]:
    """Render one night."""
    night = config.night or latest_night(context.instance)
    if night is None:
        raise dg.Failure("no run of a night was found: launch the job night first", allow_retries=False)
    house = installation.installation().prepare()
    facts = gather(context.instance, house, night)
    if not facts.runs:
        raise dg.Failure(f"no run carries the tag of night {night}", allow_retries=False)
    path = save_report(house, night, night_page(facts))
    finding = forecast.forecast(facts.comparison, facts.zone)
    yield dg.MaterializeResult(
        metadata=_numbers(facts, str(path)),
        check_results=[
            dg.AssetCheckResult(
                passed=finding.passed,
                check_name=forecast.SPEC.name,
                severity=finding.severity,
                description=finding.words,
                metadata=finding.as_metadata(),
            )
        ],
    )


def gather(instance: dg.DagsterInstance, installation: Installation, night: str) -> NightFacts:
    """The facts of a night: its runs from Dagster, its numbers from the tables."""
    from resources.reports.read import read_night

    found = collect(instance, night_records(instance, night), [*course.CHECKS, forecast.SPEC])
    _, catalog, _ = usable_sites(installation)
    return read_night(
        installation,
        night,
        found.runs,
        found.domains,
        made_at=time.time(),
        fallen=found.fallen,
        findings=found.findings,
        stopped=found.stopped,
        mended=found.mended,
        queue=found.queue,
        plan=load_plan(installation, night),
        zone=zone_of(catalog),
    )


def _numbers(facts: NightFacts, path: str) -> dict[str, Any]:
    found = needs(facts)
    numbers: dict[str, Any] = {
        "night": facts.night,
        "in one sentence": headline(facts)[0],
        "report": dg.MetadataValue.md(night_markdown(facts)),
        "page": dg.MetadataValue.path(path),
        "domains": len(facts.domains),
        "domains well": facts.good,
        "needs you": sum(1 for n in found if n.urgency == "act"),
        "requests": facts.requests,
        "pages": facts.pages,
        "hit rate": round(facts.unchanged / facts.pages, 4) if facts.pages else 0.0,
        "429 share": round(facts.throttled / facts.requests, 4) if facts.requests else 0.0,
        "wire bytes": facts.wire_bytes,
        "urls left": facts.pending,
        "duration s": round(facts.seconds, 1),
    }
    # The UI opens no local files; where the folder is served, the link goes there.
    if base := os.environ.get("NIGHTCRAWL_REPORTS_URL", "").rstrip("/"):
        numbers["open"] = dg.MetadataValue.url(f"{base}/{facts.night}.html")
    return numbers
