"""Everything Dagster loads, on one page.

The code server declares stages and checks and does none of them. So nothing that is reached from here imports at its top
what they work with, DuckDB, Arrow, the HTTP client and the crawler: it would be 65 MB in a process that is always there.
A run imports it in the functions that use it."""

from __future__ import annotations

import warnings

import dagster as dg

# Partitioned checks and backfill policies are marked preview and beta in this version; both are used on purpose.
for category in (dg.BetaWarning, dg.PreviewWarning, dg.SupersessionWarning):
    warnings.filterwarnings("ignore", category=category)

from crawl_assets.automation.jobs import JOBS  # noqa: E402
from crawl_assets.automation.schedules import SCHEDULES  # noqa: E402
from crawl_assets.automation.sensors import SENSORS  # noqa: E402
from crawl_assets.automation.throttling import throttling_trend  # noqa: E402
from crawl_assets.stages.night_plan import night_plan  # noqa: E402
from crawl_assets.stages.night_report import night_report  # noqa: E402
from crawl_assets.stages.pipeline import night  # noqa: E402
from crawl_assets.stages.sources import SITE_FILES, THE_WEB  # noqa: E402
from resources.installation_resource import InstallationResource  # noqa: E402

__all__ = ["defs"]


@dg.definitions
def defs() -> dg.Definitions:
    """The code location."""
    return dg.Definitions(
        assets=[THE_WEB, SITE_FILES, night_plan, night, night_report],
        jobs=JOBS,
        schedules=SCHEDULES,
        sensors=[*SENSORS, throttling_trend],
        resources={"installation": InstallationResource()},
        executor=dg.in_process_executor,
    )
