"""`nightcrawl maintain`: housekeeping of the stored pages and of Dagster's event log, here and now."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say, size

if TYPE_CHECKING:
    from resources.installation import Installation

__all__ = ["maintain"]


def maintain(
    domain: Annotated[
        list[str] | None, typer.Argument(help="host[:port]; all domains when none is named.")
    ] = None,
    dense: Annotated[
        bool, typer.Option("--dense", help="Compress every body anew, as small as it gets: some 1 ms a page.")
    ] = False,
    minutes: Annotated[
        float | None, typer.Option(min=0.0, help="Begin no further domain after this long.")
    ] = None,
) -> None:
    """Compress stored pages better and give room back. Nothing that is read changes; every night does it too, for what
    it fetched. A domain that is being crawled is left out. Where none is named, events of runs that ended long ago are
    forgotten too (NIGHTCRAWL_EVENT_DAYS)."""
    from resources.crawler.liveness import worker_name
    from resources.crawler.upkeep import Kept, due_for_upkeep, keep_up
    from resources.installation import Installation

    installation = Installation.from_environment().prepare()
    frontier, pages = installation.open_frontier(), installation.open_pages()
    until = time.monotonic() + minutes * 60 if minutes is not None else None
    left = before = after = 0
    try:
        known = sorted(frontier.all_counts())
        if unknown := [d for d in domain or () if d not in known]:
            raise CommandFailed(
                f"nothing is known of {', '.join(unknown)}; there are {', '.join(known) or 'none'}"
            )
        # Remembered as due first: what this call has no time for, the next night does.
        chosen = due_for_upkeep(frontier, domain or known, lambda _: True)
        begun = 0

        def go_on() -> bool:
            nonlocal begun
            begun += until is None or time.monotonic() < until
            return until is None or time.monotonic() < until

        for told in keep_up(frontier, pages, chosen, worker_name(), dense=dense, go_on=go_on):
            if not isinstance(told, Kept):
                left += 1
                say(told)
                continue
            before, after = before + told.before, after + told.after
            if told.saved:
                say(
                    f"{told.domain}: {count(told.pages)} pages, {size(told.before)} are now {size(told.after)}"
                )
        left += len(chosen) - begun
    finally:
        frontier.close()
        pages.close()
    say(f"stored bodies: {size(before)} are now {size(after)}")
    waiting = 0 if domain else _forget_events(installation, until)
    if waiting:
        say(f"{waiting} old run(s) wait: the same command, or the next night, does them")
    if left:
        say(f"{left} domain(s) wait: the same command, or the next night, does them")
    if left or waiting:
        raise typer.Exit(ExitCode.BAD_NEWS)


def _forget_events(installation: Installation, until: float | None) -> int:
    """Forget the events of old runs until the time is up; how many runs are left. Where Dagster never ran: nothing."""
    if not (installation.data / "dagster").is_dir():
        return 0
    import dagster as dg

    from crawl_assets.automation.event_retention import (
        forget_run,
        forget_runless,
        forgettable_runs,
        kept_days,
    )

    from .instance import dagster_home

    try:
        days = kept_days()
    except ValueError as error:
        raise CommandFailed(str(error)) from error
    if days is None:
        return 0
    home = dagster_home(installation)
    done = freed = 0
    # Paths in dagster.yaml are relative to the folder Dagster runs in.
    with contextlib.chdir(home), dg.DagsterInstance.from_config(str(home)) as instance:
        due = forgettable_runs(instance, days)
        for run_id in due:
            if until is not None and time.monotonic() >= until:
                break
            freed += forget_run(instance, run_id).freed
            done += 1
        rows = forget_runless(instance, days)
    if rows:
        say(f"event log: {count(rows)} rows without a run, older than {days:g} days")
    if due:
        say(f"event log: {count(done)} runs older than {days:g} days, {size(freed)} freed")
    return len(due) - done
