"""Facts for a plan: the frontier's counts, the ledger, and earlier nights in the published tables. Only reads.

Costs: one count per domain from an index, one query over the fetch log of the last nights.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import time as time_of_day
from importlib import resources

from resources.crawler.open_hours import open_hours
from resources.frontier.base import Frontier, StateCounts
from resources.installation import Installation
from resources.named_sql import split_named
from resources.pacing.ledger.base import LedgerRow
from resources.planner.deadline import deadline_after
from resources.planner.facts import DomainFacts, PastNight
from resources.planner.night import NightPlan, plan_night
from resources.site.catalog import Catalog
from resources.site.model import Site
from resources.warehouse.read import NothingPublished, published

__all__ = ["make_plan", "read_facts"]

#: As many nights as the audit compares with.
NIGHTS = 7


def make_plan(
    installation: Installation,
    catalog: Catalog,
    night: str,
    starts: Mapping[str, float],
    ready_by: time_of_day,
    now: float | None = None,
) -> NightPlan:
    """The plan of `night` for the domains of `starts` (domain → instant at which its site's schedule fires)."""
    made_at = time.time() if now is None else now
    return plan_night(night, read_facts(installation, catalog, night, starts, ready_by), made_at)


def read_facts(
    installation: Installation,
    catalog: Catalog,
    night: str,
    starts: Mapping[str, float],
    ready_by: time_of_day,
) -> list[DomainFacts]:
    """One value a domain that a site file covers."""
    covered = {d: (at, site) for d, at in starts.items() if (site := catalog.for_domain(d)) is not None}
    history, eligible, whole = _published(installation, night, max(starts.values(), default=0.0))
    ledger = installation.open_ledger()
    try:
        paces = {row.domain: row for row in ledger.all()}
    finally:
        ledger.close()
    frontier = installation.open_frontier()
    try:
        counts = frontier.all_counts()
        return [
            replace(
                _facts(frontier, domain, at, site, counts.get(domain), paces.get(domain), ready_by),
                history=tuple(history.get(domain, ())),
                first_seen=domain in whole or domain not in history,
                eligible=eligible.get(domain, 0),
            )
            for domain, (at, site) in covered.items()
        ]
    finally:
        frontier.close()


def _published(
    installation: Installation, night: str, at: float
) -> tuple[dict[str, list[PastNight]], dict[str, int], set[str]]:
    """(earlier nights, failures that will be eligible, domains whose history goes back to their first night)."""
    history: defaultdict[str, list[PastNight]] = defaultdict(list)
    statements = split_named(
        resources.files(__package__).joinpath("history.sql").read_text("utf-8"), "history.sql"
    )
    whole: set[str] = set()
    try:
        with published(installation) as connection:
            for domain, *numbers, from_the_first in connection.execute(
                statements["past_nights"], [NIGHTS, night]
            ).fetchall():
                history[domain].append(PastNight(*numbers))
                if from_the_first:
                    whole.add(domain)
            eligible = dict(connection.execute(statements["eligible"], [at]).fetchall())
    except NothingPublished:
        return {}, {}, set()  # before the first night there is nothing to learn from
    return dict(history), eligible, whole


def _facts(
    frontier: Frontier,
    domain: str,
    at: float,
    site: Site,
    counts: StateCounts | None,
    pace: LedgerRow | None,
    ready_by: time_of_day,
) -> DomainFacts:
    rate = pace.rate if pace is not None else None
    if rate is not None and pace is not None and pace.slow_until > at:
        rate *= pace.slow_factor
    return DomainFacts(
        domain=domain,
        site=site.name,
        starts_at=at,
        deadline=deadline_after(at, ready_by, site.zone),
        pending=counts.pending + counts.leased if counts is not None else len(site.seeds),
        due=frontier.due(domain, at) if counts is not None and counts.done else 0,
        max_pages=site.scope.max_pages,
        rate=rate,
        ceiling=_ceiling(site),
        owed_until=pace.owed_until if pace is not None else 0.0,
        paused_cause=pace.paused_cause if pace is not None else "",
        window=open_hours(site.pace),
    )


def _ceiling(site: Site) -> float | None:
    """Requests a second that the site file allows at most; None: it leaves that to learning."""
    own = site.pace.crawl_delay
    by_delay = 1.0 / own if isinstance(own, int | float) and own > 0 else None
    limits = [limit for limit in (site.pace.rate, by_delay) if limit is not None]
    return min(limits) if limits else None
