"""`nightcrawl plan`: what the next night will take, and whether it will be ready in the morning. Asks no site."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import say, say_json, table

__all__ = ["plan"]


def plan(
    night: Annotated[str, typer.Option(help="As in 2026-11-29. Default: the next one.")] = "",
    ready_by: Annotated[
        str,
        typer.Option(
            help="Time of day by which tables have to be ready. Default: NIGHTCRAWL_READY_BY, 07:00."
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show per domain what is due, how long it takes at the learned pace, and which domain everybody waits for."""
    from datetime import UTC, datetime

    from crawl_assets.partitions import wanted_domains
    from crawl_assets.stages.upcoming import upcoming, zone_of
    from resources.installation import Installation
    from resources.planner.deadline import ready_by as hour
    from resources.planner.read import make_plan
    from resources.planner.words import COLUMNS, answer, plan_rows

    installation = Installation.from_environment()
    catalog = installation.catalog()
    try:
        at = hour(ready_by)
    except ValueError as error:
        raise CommandFailed(str(error), ExitCode.USAGE) from None
    frontier = installation.prepare().open_frontier()
    try:
        met = sorted(frontier.all_counts())
    finally:
        frontier.close()
    coming = upcoming(catalog, wanted_domains(catalog, met), datetime.now(UTC), night)
    if coming is None:
        words = f"no site's schedule has the night {night!r}" if night else "no site file names a domain yet"
        raise CommandFailed(words, ExitCode.USAGE)
    made = make_plan(installation, catalog, coming.night, coming.starts, at)
    if as_json:
        say_json(asdict(made) | {"verdict": made.verdict, "ready_at": made.ready_at})
    else:
        zone = zone_of(catalog)
        say(f"night {made.night} ({zone})")
        table(COLUMNS, plan_rows(made, zone), right=("due URLs", "requests", "bytes"))
        say(answer(made, zone))
    if made.verdict == "no":
        raise typer.Exit(ExitCode.BAD_NEWS)
