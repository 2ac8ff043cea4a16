"""Before and after a night: the schedule that plans it and the sensor that reports it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg

from crawl_assets.automation.fire_times import GRACE
from crawl_assets.partitions import domains, usable_sites
from crawl_assets.stages.mends import REPORT_JOBS, WITHIN
from crawl_assets.stages.night import NIGHT_TAG
from crawl_assets.stages.night_plan import night_plan
from crawl_assets.stages.night_report import night_report
from crawl_assets.stages.upcoming import upcoming
from resources.installation_resource import InstallationResource

__all__ = ["PLAN", "REPORT", "night_reports", "plans"]

#: The plan is made this long before the first site of the night begins.
AHEAD = timedelta(minutes=30)
#: Runs looked through for nights.
LOOKED_AT = 500
#: Nights whose last state the sensor remembers.
REMEMBERED = 10

PLAN = dg.define_asset_job(
    "plan",
    selection=dg.AssetSelection.assets(night_plan),
    description="What the next night will take, and whether it will be ready. Reads, and asks no site anything.",
    tags={"nightcrawl/kind": "plan"},
)

REPORT = dg.define_asset_job(
    "report",
    selection=dg.AssetSelection.assets(night_report),
    description="The report of a night, again. `night: 2026-11-29` for one that is not the latest.",
    tags={"nightcrawl/kind": "report"},
)


@dg.schedule(
    name="plans",
    cron_schedule="*/5 * * * *",
    execution_timezone="UTC",
    job=PLAN,
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Plans each night once, half an hour before its first site begins.",
)
def plans(
    context: dg.ScheduleEvaluationContext, installation: InstallationResource
) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """One look at what is coming."""
    now = context.scheduled_execution_time.astimezone(UTC)
    if datetime.now(UTC) - now > GRACE:
        yield dg.SkipReason("this tick is late: its night has begun")
        return
    _, catalog, _ = usable_sites(installation.installation())
    coming = upcoming(catalog, context.instance.get_dynamic_partitions(str(domains.name)), now)
    if coming is None or datetime.fromtimestamp(coming.first, UTC) - now > AHEAD:
        yield dg.SkipReason("no night begins within half an hour")
        return
    if datetime.fromtimestamp(coming.first, UTC) <= now:
        # A plan made now would know what the night has already done.
        yield dg.SkipReason(f"the night {coming.night} has begun")
        return
    yield dg.RunRequest(
        run_key=f"plan {coming.night}",
        run_config={"ops": {night_plan.op.name: {"config": {"night": coming.night}}}},
        tags={NIGHT_TAG: coming.night},
    )


@dg.sensor(
    name="night_reports",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    job=REPORT,
    description=(
        "Makes the report of a night when all its runs have ended, and again when a run was added: a resumed crawl, "
        "a retry, a domain run by hand."
    ),
)
def night_reports(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """One look at the runs. The cursor remembers which runs of each night were reported."""
    known: dict[str, str] = json.loads(context.cursor or "{}")
    nights: dict[str, list[tuple[str, bool]]] = {}
    since = dg.RunsFilter(created_after=datetime.now(UTC) - WITHIN)
    for record in context.instance.get_run_records(since, limit=LOOKED_AT):
        run = record.dagster_run
        if (night := run.tags.get(NIGHT_TAG)) and run.job_name not in REPORT_JOBS:
            nights.setdefault(night, []).append((f"{run.run_id} {run.status.value}", run.is_finished))
    requests = []
    for night, runs in sorted(nights.items()):
        state = hashlib.sha256("\n".join(sorted(name for name, _ in runs)).encode()).hexdigest()[:16]
        if not all(finished for _, finished in runs) or known.get(night) == state:
            continue
        known[night] = state
        requests.append(
            dg.RunRequest(
                run_key=f"report {night} {state}",
                run_config={"ops": {night_report.op.name: {"config": {"night": night}}}},
                tags={NIGHT_TAG: night},
            )
        )
    if not requests:
        return dg.SkipReason("every night that has ended is reported")
    kept = dict(sorted(known.items())[-REMEMBERED:])
    return dg.SensorResult(run_requests=requests, cursor=json.dumps(kept))
