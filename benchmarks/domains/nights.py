"""A house of thousands of small shops, and real nights over them: daemon, webserver and run workers as in production.

Every shop is a domain of its own with a site file of its own; one server on loopback answers for all of them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
from dagster._core.storage.dagster_run import RunRecord

from crawl_assets.automation.schedules import FIRED_TAG
from crawl_assets.automation.start import CRAWL_RUNS
from practice_site import SiteConfig, many_sites, practice_web_process, site_yaml
from resources.installation import Installation
from tests.dagster.operated import Operated, wait_for

__all__ = ["Launched", "folder_bytes", "instance_of", "launch", "night", "shops", "write_sites"]

#: The port all shops listen on; the sites differ by their loopback address.
PORT = int(os.environ.get("NIGHTCRAWL_BENCH_PORT", "8090"))
NEVER = "0 0 1 1 *"
#: No night of the benchmark takes longer, also on a busy machine.
NIGHT_S = 7_200.0


@dataclass(frozen=True, slots=True)
class Launched:
    """A night as Dagster's runs have it; seconds after the minute its schedule fired."""

    runs: int
    created_s: float
    """Until the last run was created, with everything it plans."""
    started_s: float
    """Until the last run was under way."""
    ended_s: float
    statuses: dict[str, int]


@contextmanager
def shops(count: int, port: int = PORT) -> Iterator[list[str]]:
    """`count` shops of a few pages each, being served; their domains."""
    template = SiteConfig(n_products=2, n_categories=1, port=port)
    with practice_web_process(many_sites(count, template), interlinked=False) as sites:
        yield [site.domain for site in sites]


def write_sites(
    installation: Installation, domains: list[str], schedules: Mapping[str, str] | None = None
) -> None:
    """One site file a domain. `schedules`: of those that are to be launched; the others never are."""
    when = schedules or {}
    for number, domain in enumerate(domains):
        name = f"shop-{number:05}"
        changes = {"pace": {"rate": "unlimited"}, "schedule": when.get(domain, NEVER)}
        text = site_yaml(domain, name=name, changes=changes)
        new = installation.sites / f".{name}.new"
        new.write_text(text)
        new.replace(installation.sites / f"{name}.yaml")  # nobody sees half a file


@contextmanager
def instance_of(house: Operated) -> Iterator[dg.DagsterInstance]:
    """The house's instance, for this process. Paths in dagster.yaml are relative to its folder."""
    with contextlib.chdir(house.home), dg.DagsterInstance.from_config(str(house.home)) as instance:
        yield instance


def night(
    house: Operated,
    domains: list[str],
    part: slice = slice(None),
    *,
    within: timedelta = timedelta(minutes=2),
) -> Launched:
    """Let the schedule launch a night over those of `part`, wait for its end, and say how long what took."""
    fires = (datetime.now(UTC) + within).replace(second=0, microsecond=0)
    tonight = domains[part]
    write_sites(house.installation, domains, dict.fromkeys(tonight, f"{fires.minute} {fires.hour} * * *"))
    stamp = {FIRED_TAG: fires.strftime("%Y-%m-%dT%H:%MZ")}
    with instance_of(house) as instance:

        def mine() -> list[RunRecord]:
            return list(instance.get_run_records(dg.RunsFilter(tags=stamp), ascending=True))

        def ended() -> list[RunRecord] | None:
            found = mine()
            covered = sum(_width(r.dagster_run, domains) for r in found)
            done = covered >= len(tonight) and all(r.dagster_run.is_finished for r in found)
            return found if done else None

        runs = wait_for(ended, NIGHT_S, 2.0)
        zero = fires.timestamp()
        statuses: dict[str, int] = {}
        for record in runs:
            statuses[record.dagster_run.status.value] = statuses.get(record.dagster_run.status.value, 0) + 1
        write_sites(house.installation, domains)
        return Launched(
            len(runs),
            max(r.create_timestamp.timestamp() for r in runs) - zero,
            max(r.start_time or zero for r in runs) - zero,
            max(r.end_time or zero for r in runs) - zero,
            statuses,
        )


def launch(house: Operated, domains: list[str], *, within: timedelta = timedelta(minutes=2)) -> Launched:
    """Let the schedule launch a night over all of them, and wait only until its last run is in the queue and as many are
    under way as may be. The night is left as it is: `house.kill` ends it, and its runs are told lost."""
    fires = (datetime.now(UTC) + within).replace(second=0, microsecond=0)
    write_sites(house.installation, domains, dict.fromkeys(domains, f"{fires.minute} {fires.hour} * * *"))
    filter_ = dg.RunsFilter(tags={FIRED_TAG: fires.strftime("%Y-%m-%dT%H:%MZ")})
    with instance_of(house) as instance:

        def complete() -> list[RunRecord] | None:
            found = list(instance.get_run_records(filter_))
            covered = sum(_width(r.dagster_run, domains) for r in found)
            under_way = sum(r.start_time is not None for r in found)
            return found if covered >= len(domains) and under_way >= min(len(found), CRAWL_RUNS) else None

        runs = wait_for(complete, NIGHT_S, 1.0)
        created = max(r.create_timestamp.timestamp() for r in runs)
        started = sorted(r.start_time for r in runs if r.start_time is not None)[:CRAWL_RUNS]
        zero = fires.timestamp()
        return Launched(len(runs), created - zero, started[-1] - zero, float("nan"), {})


def _width(run: dg.DagsterRun, domains: list[str]) -> int:
    """How many domains a run has. The partitions stand in the order of the site files."""
    first, last = (run.tags[f"dagster/asset_partition_range_{end}"] for end in ("start", "end"))
    return domains.index(last) - domains.index(first) + 1


def folder_bytes(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
