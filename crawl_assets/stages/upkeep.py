"""At the end of a night: the housekeeping of the page store, for domains with new bodies, and of Dagster's event log,
for runs of long ago; each for a bounded time.

Tables are published by then: nobody waits for it but the end of the run. What it is stopped in, or has no time for, the
next night goes on with.
"""

from __future__ import annotations

import time

from crawl_assets.automation.event_retention import forget_run, forget_runless, forgettable_runs, kept_days
from crawl_assets.stages.night import Night
from crawl_assets.stages.raw import ASSET as RAW
from resources.crawler.liveness import worker_name

__all__ = ["AT_MOST_S", "EVENTS_AT_MOST_S", "upkeep"]

#: Of each run: a report that comes five minutes later is still there in the morning.
AT_MOST_S = 300.0
#: Of each run, for old events: a night adds as many runs as it makes old, and one takes a fraction of a second.
EVENTS_AT_MOST_S = 60.0


async def upkeep(night: Night) -> None:
    """Both, one after the other."""
    await _pages(night)
    await _events(night)


async def _events(night: Night) -> None:
    """Forget the events of runs that ended long ago, and old ones without a run (automation/event_retention.py)."""
    try:
        days = kept_days()
    except ValueError as error:
        night.say(str(error))  # a night that is done does not fail for a setting of its housekeeping
        return
    if days is None:
        return
    begin, done, freed = time.monotonic(), 0, 0
    due = await night.call(forgettable_runs, night.instance, days)
    for run_id in due:
        if night.stop.is_set() or time.monotonic() - begin > EVENTS_AT_MOST_S:
            break
        # One run a call: the thread that talks to Dagster is free in between.
        told = await night.call(forget_run, night.instance, run_id)
        done, freed = done + 1, freed + told.freed
    if rows := await night.call(forget_runless, night.instance, days):
        night.say(f"event log: {rows:,} rows without a run, older than {days:g} days")
    if due:
        left = f"; {len(due) - done} wait for the next night" if done < len(due) else ""
        night.say(f"event log: {done} run(s) older than {days:g} days, {freed:,} bytes freed{left}")


async def _pages(night: Night) -> None:
    """Keep the stored pages of the run's domains in order; each that became smaller is observed on `raw_html`."""
    from resources.crawler.upkeep import Kept, due_for_upkeep, keep_up

    frontier, pages = night.storage.frontier, night.storage.pages
    owner = worker_name()

    def changed(domain: str) -> bool:
        report = night.reports.get(domain)
        return report is not None and report.ok > 0

    begin, saved, done = time.monotonic(), 0, 0
    due = await night.storage.run(due_for_upkeep, frontier, night.in_play, changed)
    for domain in due:
        if night.stop.is_set() or time.monotonic() - begin > AT_MOST_S:
            break
        # One domain a call: the storage thread is free in between, and a stop is heard.
        for told in await night.storage.run(lambda d: list(keep_up(frontier, pages, [d], owner)), domain):
            if not isinstance(told, Kept):
                night.say(told)
                continue
            done, saved = done + 1, saved + told.saved
            if told.saved:
                await night.observed(
                    RAW,
                    {
                        "stored bytes before upkeep": told.before,
                        "stored bytes after upkeep": told.after,
                        "bytes saved": told.saved,
                        "upkeep s": round(told.seconds, 3),
                    },
                    domain,
                )
    if due:
        left = f"; {len(due) - done} wait for the next night" if done < len(due) else ""
        night.say(f"page store: {done} domain(s) kept up, {saved:,} bytes saved{left}")
