"""What becomes of a domain after its night: made again from the page store, or published by hand.

Such a run sends no request. It belongs to the night whose pages it reads: it carries that night's tag, so that the
report is made again, and shows there as what mended a domain; the night's own times and runs stay what they were.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import dagster as dg

from crawl_assets.checks import audit, integrity
from crawl_assets.stages import publish, raw, tables
from crawl_assets.stages.fetch import ASSET as FETCHED
from crawl_assets.stages.night import NIGHT_TAG, Night
from crawl_assets.stages.retry import ASSET as RETRIED
from crawl_assets.stages.seed import ASSET as SEEDED

__all__ = [
    "OF_TABLES",
    "REPORT_JOBS",
    "WITHIN",
    "after_the_web",
    "join_latest_night",
    "latest_night",
    "only_mends",
]

#: Jobs whose runs carry a night's tag and are not part of it.
REPORT_JOBS = frozenset({"report", "plan"})
#: Runs looked through for the latest night.
LOOKED_AT = 100
#: A night is over for good after this long: what is made later belongs to no report.
WITHIN = timedelta(days=2)

#: The checks such a run asks again.
OF_TABLES = frozenset({integrity.SPEC.name, *(spec.name for spec in audit.SPECS)})
_STAGES = frozenset({raw.ASSET, *tables.TABLES, publish.ASSET})
_ON_THE_WEB = frozenset({SEEDED, FETCHED, RETRIED})


def after_the_web(stage: str) -> bool:
    """Whether what fell at `stage` can be mended without a request."""
    return stage in _STAGES or stage.removeprefix("check ") in OF_TABLES


def only_mends(run: dg.DagsterRun) -> bool:
    """Whether a run asks no site anything: by its job, or by the assets chosen in the UI."""
    if run.tags.get("nightcrawl/kind") in ("reparse", "publish"):
        return True
    chosen = {key.to_user_string() for key in run.asset_selection or ()}
    return bool(chosen) and not chosen & _ON_THE_WEB


def latest_night(instance: dg.DagsterInstance, within: timedelta | None = None) -> str | None:
    """The night of the newest run that has one; `within`: and that is not older than this."""
    since = datetime.now(UTC) - within if within is not None else None
    for record in instance.get_run_records(dg.RunsFilter(created_after=since), limit=LOOKED_AT):
        run = record.dagster_run
        if run.job_name not in REPORT_JOBS and (night := run.tags.get(NIGHT_TAG)):
            return night
    return None


async def join_latest_night(night: Night) -> None:
    """Let a run without a night of its own be part of the latest one, if there was one of late."""
    if not night.named:
        found = await night.call(latest_night, night.instance, WITHIN)
        if found is not None:
            night.name = found
            await night.tag_run()
