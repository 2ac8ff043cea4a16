"""The sensor that tells people of failed checks in runs that were done for all else.

A failed blocking check takes its domain out and the run fails: `failure_alerts` tells of that. Everything else that is
an error (ban signals, freshness, a canary that was asked by itself) would only be red in the UI. When a run has ended,
its failed checks of severity ERROR are told, one message per night and check with all the domains in it. Warnings are
for the morning report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
from dagster._core.storage.dagster_run import RunRecord

from crawl_assets.automation.alerts import Alert, AlertChannels, deliver_once
from crawl_assets.checks.finding import ERROR
from crawl_assets.stages.night import NIGHT_TAG
from resources.installation_resource import InstallationResource

__all__ = ["check_alerts", "check_alerts_of"]

#: A first look, or the first after a long silence, goes back this far: older news are in the reports.
LOOK_BACK = timedelta(days=1)
#: Runs change after their end (tags, a late heartbeat), and clocks of machines differ: each look goes back this far
#: behind the last one and leaves out the runs it remembers.
OVERLAP = timedelta(minutes=2)
#: Ended runs read in one tick; the others wait for the next.
RUNS_PER_TICK = 50

ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)


@dg.sensor(
    name="check_alerts",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Tells people by e-mail and webhook of checks that failed in runs that went on, once per night and check. See "
        "docs/operating.md for the settings."
    ),
)
def check_alerts(
    context: dg.SensorEvaluationContext, installation: InstallationResource
) -> dg.SensorResult | dg.SkipReason:
    """One look at the runs that have ended. The cursor: until when was looked, and the runs of the last minutes."""
    now = datetime.now(UTC)
    memory: dict[str, Any] = json.loads(context.cursor or "{}")
    channels = AlertChannels.from_environment()
    if not channels.any:
        return dg.SkipReason("no receiver is set: see docs/operating.md")
    since = max(datetime.fromtimestamp(memory.get("until", 0.0), UTC) - OVERLAP, now - LOOK_BACK)
    known: set[str] = set(memory.get("known", ()))
    chosen = dg.RunsFilter(statuses=list(ENDED), updated_after=since)
    found = context.instance.get_run_records(
        chosen, limit=RUNS_PER_TICK + len(known), order_by="update_timestamp", ascending=True
    )
    fresh = [r for r in found if r.dagster_run.run_id not in known][:RUNS_PER_TICK]
    alerts = _together(a for record in fresh for a in check_alerts_of(context.instance, record, channels))
    sent: list[Alert] = []
    if alerts:
        frontier = installation.installation().prepare().open_frontier()
        try:
            sent = deliver_once(alerts, channels, frontier)
        finally:
            frontier.close()
    # After the delivery: what was refused is tried again by the next tick.
    until = fresh[-1].update_timestamp.timestamp() if len(fresh) == RUNS_PER_TICK else now.timestamp()
    edge = until - OVERLAP.total_seconds()
    kept = [r.dagster_run.run_id for r in found if edge <= r.update_timestamp.timestamp() <= until]
    cursor = json.dumps({"until": until, "known": kept})
    return dg.SensorResult(
        cursor=cursor, skip_reason=f"{len(fresh)} run(s) have ended, {len(sent)} message(s) sent"
    )


def check_alerts_of(
    instance: dg.DagsterInstance, record: RunRecord, channels: AlertChannels
) -> Iterator[Alert]:
    """One alert for each check of severity ERROR that failed in an ended run.

    Blocking checks of a failed run are left out: the run's own alert names them and their domains.
    """
    run = record.dagster_run
    night = run.tags.get(NIGHT_TAG) or record.create_timestamp.date().isoformat()
    told_already = run.status is dg.DagsterRunStatus.FAILURE
    failed: dict[str, dict[str, str]] = {}
    events = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    for one in events.records:
        event = one.event_log_entry.dagster_event
        if event is None:
            continue
        found = event.asset_check_evaluation_data
        if found.passed:
            failed.get(found.check_name, {}).pop(str(found.partition), None)  # asked again in the same run
        elif found.severity is ERROR and not (told_already and found.blocking):
            where = str(found.partition or found.asset_key.to_user_string())
            failed.setdefault(found.check_name, {})[where] = found.description or "failed"
    for name, domains in failed.items():
        if domains:
            words = next(iter(domains.values()))
            yield Alert(night, f"check {name}", tuple(domains), words, f"{channels.ui}/runs/{run.run_id}")


def _together(alerts: Iterator[Alert]) -> list[Alert]:
    """Alerts of one night and cause as one, with the domains of all; words and link are the first one's."""
    merged: dict[tuple[str, str], Alert] = {}
    for alert in alerts:
        place = (alert.night, alert.cause)
        first = merged.get(place, alert)
        named = tuple(dict.fromkeys([*first.domains, *alert.domains]))
        merged[place] = Alert(first.night, first.cause, named, first.words, first.link)
    return list(merged.values())
