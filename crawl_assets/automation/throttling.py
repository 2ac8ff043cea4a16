"""The sensor of the 429 trend: what `resources.health.trend` decides, carried out and shown in Dagster.

Each tick reads the new rows of the fetch log, also while a run writes them. Orders go through the ledger: a running
crawl obeys within seconds, one that starts later begins with them. Every action is an observation on the domain's
partition of `fetched_pages`; "us or them" is asked by a run of the canaries over the domain and its neighbours.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from crawl_assets.automation.alerts import Alert, AlertChannels, deliver_once
from crawl_assets.automation.jobs import CANARIES
from crawl_assets.automation.range_requests import range_request
from crawl_assets.checks import canary
from crawl_assets.partitions import domains
from crawl_assets.stages import fetch
from resources.frontier.base import Frontier
from resources.health.trend import Action, CanaryWord
from resources.health.watch import TrendWatch
from resources.installation_resource import InstallationResource

__all__ = ["canary_word", "throttling_trend"]

#: Partitions before and after the domain whose canaries are asked with its own: without others to compare with
#: nobody can tell whose fault it is.
NEIGHBOURS = 2
#: Check evaluations looked through for the answer.
HISTORY = 500

_CHECK = dg.AssetCheckKey(canary.SPEC.asset_key, canary.SPEC.name)


@dg.sensor(
    name="throttling_trend",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    jobs=[CANARIES],
    description=(
        "Watches the share of 429s, 503s, 403s and walls window by window, across runs. Where it rises and goes on "
        "rising, the domain's rate is lowered (in the running crawl too), a ban pauses it, its canaries tell whose "
        "fault it is, and good windows give the rate back. Each step is an observation on the domain's partition of "
        "`fetched_pages`."
    ),
)
def throttling_trend(
    context: dg.SensorEvaluationContext, installation: InstallationResource
) -> dg.SensorResult | dg.SkipReason:
    """One look at the log."""
    house = installation.installation().prepare()
    frontier, ledger = house.open_frontier(), house.open_ledger()
    try:
        now = time.time()
        watch = TrendWatch(frontier, ledger)
        done = watch.look(now, lambda domain, since: canary_word(context.instance, domain, since))
        _alert(frontier, done)
    finally:
        ledger.close()
        frontier.close()
    if not done:
        troubled = sum(1 for s in watch.states.values() if not s.forgettable)
        return dg.SkipReason(f"{len(watch.states)} domain(s) watched, {troubled} held back, no trend")
    keys = context.instance.get_dynamic_partitions(str(domains.name))
    for domain, action in done:
        context.log.info(f"{domain}: {action.kind}: {action.reason}")
    return dg.SensorResult(
        asset_events=[_observation(domain, action) for domain, action in done if domain in keys],
        run_requests=[
            _canary_run(keys, domain, now) for domain, action in done
            if action.kind == "ask_canary" and domain in keys
        ],
    )  # fmt: skip


def _observation(domain: str, action: Action) -> dg.AssetObservation:
    numbers: dict[str, Any] = dict(action.numbers)
    if action.until:
        numbers["until"] = dg.MetadataValue.timestamp(action.until)
    return dg.AssetObservation(
        dg.AssetKey(fetch.ASSET),
        partition=domain,
        description=f"{action.kind.replace('_', ' ')}: {action.reason}",
        metadata={
            "trend action": action.kind,
            "trend reason": action.reason,
            "rate factor": action.factor,
            **numbers,
        },
    )


def _canary_run(keys: Sequence[str], domain: str, now: float) -> dg.RunRequest:
    at = list(keys).index(domain)
    around = keys[max(0, at - NEIGHBOURS) : at + NEIGHBOURS + 1]
    tags = {"nightcrawl/canaries": "trend", "nightcrawl/domain": domain}
    # The key holds the moment: a sensor's run keys are remembered for ever.
    return range_request(f"trend {domain} {now:.0f}", around[0], around[-1], tags, job_name=CANARIES.name)


def canary_word(instance: dg.DagsterInstance, domain: str, since: float) -> CanaryWord | None:
    """What the newest canary check of the domain said, if it ran after `since`."""
    for record in instance.event_log_storage.get_asset_check_execution_history(_CHECK, limit=HISTORY):
        event = record.event.dagster_event if record.event else None
        if record.event is None or event is None or event.event_type_value != "ASSET_CHECK_EVALUATION":
            continue
        if record.event.timestamp < since:
            break
        found = event.asset_check_evaluation_data
        if found.partition != domain:
            continue
        asked = found.metadata.get("canaries")
        if asked is not None and not asked.value:
            return "unknown"
        if found.passed:
            return "passed"
        verdict = found.metadata.get("verdict")
        words = str(verdict.value) if verdict is not None else ""
        return "us" if words == canary.US.us else "them" if words == canary.US.them else "unknown"
    return None


def _alert(frontier: Frontier, done: list[tuple[str, Action]]) -> None:
    """People are told of a pause: the site refuses us, and only they can talk to its owner."""
    paused = [(domain, action) for domain, action in done if action.kind == "pause"]
    channels = AlertChannels.from_environment()
    if not paused or not channels.any:
        return
    night = datetime.now(UTC).date().isoformat()
    names = tuple(domain for domain, _ in paused)
    words = f"{paused[0][1].reason}. The crawl of these domains pauses; it comes back slowly by itself."
    link = f"{channels.ui}/assets/{fetch.ASSET}"
    deliver_once([Alert(night, "refused by the site", names, words, link)], channels, frontier)
