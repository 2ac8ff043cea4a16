"""The sensors: site files become partitions, lost runs are cleared away, failures reach people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from crawl_assets.automation.alerts import Alert, AlertChannels, deliver_once
from crawl_assets.automation.check_alerts import check_alerts
from crawl_assets.automation.jobs import REPARSE
from crawl_assets.automation.nights import night_reports
from crawl_assets.automation.range_requests import range_request
from crawl_assets.automation.reconciliation import clear_lost_runs
from crawl_assets.automation.schedules import NIGHT_TAG
from crawl_assets.automation.site_versions import known_versions, remember_versions
from crawl_assets.partitions import contiguous, domains, sync_partitions, usable_sites
from crawl_assets.stages.pipeline import DOMAINS_PER_RUN
from resources.frontier.base import Frontier
from resources.installation_resource import InstallationResource
from resources.site.catalog import Catalog
from resources.site.load import Problem

__all__ = ["SENSORS", "failure_alerts", "lost_runs", "site_files"]

#: Observations written per tick: 8 ms each, and a tick should stay under some seconds.
OBSERVED_PER_TICK = 300


@dg.sensor(
    name="site_files",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    job=REPARSE,
    description=(
        "Looks at the folder of site files. New domains become partitions, domains without a file are retired (data "
        "and history stay), and where the file changes what is extracted, the domain's tables are made again from "
        "the page store. A broken file is named in the tick and changes nothing."
    ),
)
def site_files(
    context: dg.SensorEvaluationContext, installation: InstallationResource
) -> dg.SensorResult | dg.SkipReason:
    """One look. The cursor remembers the folder's signature, and where the extraction version of each domain is."""
    house = installation.installation()
    memory: dict[str, Any] = json.loads(context.cursor or "{}")
    signature, catalog, problems = usable_sites(house)
    wild = any(d.startswith("*.") for site in catalog for d in site.domains)
    long = isinstance(memory.get("versions"), dict)  # an earlier version's cursor: see site_versions.py
    if signature == memory.get("signature") and not (wild or long or memory.get("more")):
        return dg.SkipReason("the site files are as they were")
    change = sync_partitions(context.instance, house)
    for problem in problems:
        context.log.warning(f"site file left out: {problem}")
    for domain in change.added:
        context.log.info(f"new domain: {domain}")
    for domain in change.retired:
        context.log.info(f"retired: {domain} (no site file covers it; data and history are kept)")
    keys = context.instance.get_dynamic_partitions(str(domains.name))
    frontier = house.prepare().open_frontier()
    try:
        return _changed(context, keys, catalog, problems, memory, signature, frontier)
    finally:
        frontier.close()


def _changed(
    context: dg.SensorEvaluationContext,
    keys: Sequence[str],
    catalog: Catalog,
    problems: Sequence[Problem],
    memory: Mapping[str, Any],
    signature: str,
    frontier: Frontier,
) -> dg.SensorResult:
    """Observe the domains whose version is another one, and make the tables of those again that had one before."""
    versions = known_versions(frontier, memory)
    now_versions = {d: site.extraction_version for d in keys if (site := catalog.for_domain(d)) is not None}
    fresh = [d for d in keys if now_versions.get(d, versions.get(d)) != versions.get(d)]
    batch = fresh[:OBSERVED_PER_TICK]
    events = [_observation(d, now_versions[d], catalog) for d in batch]
    # A version that replaces another one means new rows from old pages; a first one means nothing is there yet.
    again = {d for d in batch if d in versions}
    present = set(keys)
    versions = {d: v for d, v in versions.items() if d in present} | {d: now_versions[d] for d in batch}
    requests = [
        range_request(f"{first} {now_versions[first]}", first, last, {"nightcrawl/why": "site file changed"})
        for first, last, _ in contiguous(keys, again, DOMAINS_PER_RUN)
    ]
    more = len(fresh) > len(batch)
    kept = remember_versions(frontier, memory, versions)
    cursor = json.dumps({"signature": signature, "versions": kept, "more": more})
    skip = "; ".join(str(p) for p in problems) if problems and not requests and not events else None
    return dg.SensorResult(run_requests=requests, asset_events=events, cursor=cursor, skip_reason=skip)


def _observation(domain: str, version: str, catalog: Catalog) -> dg.AssetObservation:
    site = catalog.for_domain(domain)
    assert site is not None
    return dg.AssetObservation(
        dg.AssetKey("site_files"),
        partition=domain,
        metadata={
            "site": site.name,
            "schedule": f"{site.schedule} ({site.zone})",
            "item types": len(site.items),
        },
        tags={"dagster/data_version": version},
    )


@dg.sensor(
    name="lost_runs",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Reports runs whose process is gone (killed, rebooted) and frees their pool slots, so that no domain stays "
        "blocked."
    ),
)
def lost_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """One look at the unfinished runs."""
    cleared = clear_lost_runs(context.instance)
    for one in cleared:
        context.log.warning(f"run {one.run_id}: {one.status.value}: {one.words}")
    return dg.SkipReason(f"{len(cleared)} lost run(s) cleared" if cleared else "every run has its process")


@dg.run_failure_sensor(
    name="failure_alerts",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Tells people by e-mail and webhook, once per night and cause. See docs/operating.md for the settings.",
)
def failure_alerts(context: dg.RunFailureSensorContext, installation: InstallationResource) -> None:
    """One failed run."""
    channels = AlertChannels.from_environment()
    if not channels.any:
        return
    frontier = installation.installation().prepare().open_frontier()
    try:
        deliver_once(alerts_of(context, channels), channels, frontier)
    finally:
        frontier.close()


def alerts_of(context: dg.RunFailureSensorContext, channels: AlertChannels) -> Iterator[Alert]:
    """One alert per cause: the stage at which domains fell, or the run itself."""
    run = context.dagster_run
    night = run.tags.get(NIGHT_TAG) or datetime.now(UTC).date().isoformat()
    link = f"{channels.ui}/runs/{run.run_id}"
    causes: dict[str, list[tuple[str, str]]] = {}
    for event in context.get_step_failure_events():
        failure = event.step_failure_data.user_failure_data
        fallen = failure.metadata.get("fallen") if failure is not None else None
        if fallen is not None and isinstance(fallen.value, dict):
            for domain, (stage, words) in fallen.value.items():
                causes.setdefault(stage, []).append((domain, words))
    if not causes:
        words = context.failure_event.message or "see the run"
        yield Alert(night, f"run of job {run.job_name} failed", (run.run_id,), words, link)
    for stage, fallen_here in sorted(causes.items()):
        yield Alert(night, stage, tuple(d for d, _ in fallen_here), fallen_here[0][1], link)


SENSORS = (site_files, night_reports, lost_runs, failure_alerts, check_alerts)
