"""`night_plan`: before the night: what is due, how long it takes, and whether it will be ready in the morning."""

# No `from __future__ import annotations` here: Dagster reads the annotations as objects, not as text.

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from pydantic import Field

from crawl_assets.partitions import domains, usable_sites
from crawl_assets.stages.night import Night
from crawl_assets.stages.upcoming import upcoming, zone_of
from resources.frontier.base import FrontierError
from resources.installation import Installation
from resources.installation_resource import InstallationResource
from resources.pacing.ledger.base import LedgerError
from resources.planner.deadline import ready_by
from resources.planner.night import NightPlan
from resources.planner.store import load_plan, plan_path, save_plan
from resources.planner.words import answer, plan_markdown

__all__ = ["ASSET", "PlanConfig", "night_plan", "plan_the_rest"]

ASSET = "night_plan"


class PlanConfig(dg.Config):
    """What to plan."""

    night: str = Field(default="", description="The night, as in 2026-11-29. Empty: the next one.")
    ready_by: str = Field(
        default="",
        description="Time of day on each site's own clocks by which the tables have to be ready. Empty: "
        "NIGHTCRAWL_READY_BY, else 07:00.",
    )


@dg.asset(
    name=ASSET,
    deps=["site_files"],
    description=(
        "What tonight will take, and whether it will be ready at 07:00.\n\n"
        "Per domain: URLs that are due, requests, bytes, and the time they take at the pace learned in the nights "
        "before; the domain that everybody waits for. Made half an hour before the first site's night by the schedule "
        "`plans`; compared with what happened by the check `forecast` of `night_report`. `nightcrawl plan` prints it.\n\n"
        "**When red:** the log names what could not be read. The night itself does not need the plan."
    ),
    group_name="2_plan",
    kinds={"json"},
    owners=["team:crawl"],
    op_tags={"nightcrawl/kind": "plan"},
)
def night_plan(
    context: dg.AssetExecutionContext, config: PlanConfig, installation: InstallationResource
) -> dg.MaterializeResult[None]:
    """Make and keep the plan."""
    from resources.planner.read import make_plan

    house = installation.installation().prepare()
    _, catalog, problems = usable_sites(house)
    for problem in problems:
        context.log.warning(f"site file left out: {problem}")
    keys = context.instance.get_dynamic_partitions(str(domains.name))
    coming = upcoming(catalog, keys, datetime.now(UTC), config.night)
    if coming is None:
        raise dg.Failure(
            f"no site's schedule has the night {config.night}"
            if config.night
            else "no site file names a domain yet",
            allow_retries=False,
        )
    plan = make_plan(house, catalog, coming.night, coming.starts, ready_by(config.ready_by))
    path = save_plan(house, plan)
    return dg.MaterializeResult(metadata=_numbers(plan, str(path), zone_of(catalog)))


def _numbers(plan: NightPlan, path: str, zone: str) -> dict[str, Any]:
    numbers: dict[str, Any] = {
        "night": plan.night,
        "answer": answer(plan, zone),
        "due urls": plan.urls,
        "requests": plan.requests,
        "wire bytes": plan.wire_bytes,
        "domains": len(plan.domains),
        "late domains": len(plan.late),
        "first nights": len(plan.guessed),
        "plan": dg.MetadataValue.md(plan_markdown(plan, zone)),
        "path": dg.MetadataValue.path(path),
    }
    if plan.ready_at is not None:
        numbers["ready at"] = dg.MetadataValue.timestamp(plan.ready_at)
        numbers["hours to ready"] = round((plan.ready_at - plan.starts_at) / 3600, 3)
    if plan.critical is not None:
        numbers["critical domain"] = plan.critical.domain
    return numbers


def plan_the_rest(night: Night) -> None:
    """Plan those domains of a run that begins now which no plan of its night has: a night started by hand.

    Best effort: a night does not fail for want of a forecast.
    """
    import duckdb

    from resources.warehouse.connection import WarehouseError

    try:
        _plan_the_rest(night.installation, night)
    except (ValueError, OSError, FrontierError, LedgerError, WarehouseError, duckdb.Error) as error:
        night.say(f"no forecast for this night: {type(error).__name__}: {error}")


def _plan_the_rest(installation: Installation, night: Night) -> None:
    from resources.planner.read import make_plan

    plan_path(installation, night.name)  # a name that is no night's is told before anything is read
    known = load_plan(installation, night.name)
    planned = {d.domain for d in known.domains} if known is not None else set()
    now = time.time()
    starts = {d: now for d in night.domains if d not in planned}
    if not starts:
        return
    made = make_plan(installation, night.catalog, night.name, starts, ready_by(), now)
    if known is not None:
        both = (*known.domains, *made.domains)
        ordered = sorted(both, key=lambda p: (p.ready_at is None, -(p.ready_at or 0.0), p.domain))
        made = replace(known, domains=tuple(ordered))
    save_plan(installation, made)
