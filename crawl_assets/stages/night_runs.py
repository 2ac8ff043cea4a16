"""A night as Dagster's event log has it: its runs, the domains that fell and the checks that failed in them.

A domain counts by the last run that had it. One that fell and was mended since, by a run that asked the site again
or by one that made its tables again, is told as mended, with the time and what did it.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import dagster as dg
from dagster._core.storage.dagster_run import RunRecord

from crawl_assets.partitions import domains
from crawl_assets.stages.mends import OF_TABLES, REPORT_JOBS, after_the_web, only_mends
from crawl_assets.stages.night import NIGHT_TAG
from crawl_assets.stages.progress import PROGRESS_OF
from crawl_assets.stages.publish import ASSET as PUBLISHED
from resources.crawler.taxonomy import failure_kind
from resources.reports.facts import Fallen, Finding, Mended, QueuePoint, RunFacts

__all__ = ["NightRuns", "collect", "night_records"]

#: Runs of one night at most.
OF_A_NIGHT = 2_000
#: Events read at once.
AT_ONCE = 1_000
#: Progress observations of a night: a second apart at first, half a minute later (stages/progress.py).
POINTS = 5_000


@dataclass(frozen=True, slots=True)
class NightRuns:
    """What `collect` finds. `domains` are in the order of the partitions."""

    runs: tuple[RunFacts, ...]
    domains: tuple[str, ...]
    fallen: tuple[Fallen, ...]
    findings: tuple[Finding, ...]
    stopped: tuple[str, ...]
    mended: tuple[Mended, ...]
    queue: tuple[QueuePoint, ...]

    @property
    def finished(self) -> bool:
        return all(r.status in ("SUCCESS", "FAILURE", "CANCELED") for r in self.runs)


def night_records(instance: dg.DagsterInstance, night: str) -> list[RunRecord]:
    """The runs of a night, oldest first, without those that only tell of it."""
    found = instance.get_run_records(dg.RunsFilter(tags={NIGHT_TAG: night}), limit=OF_A_NIGHT, ascending=True)
    return [r for r in found if r.dagster_run.job_name not in REPORT_JOBS]


def collect(
    instance: dg.DagsterInstance, records: Sequence[RunRecord], checks: Sequence[dg.AssetCheckSpec]
) -> NightRuns:
    """Read the events of these runs. `checks`: for the cure that stands in each check's description."""
    keys = instance.get_dynamic_partitions(str(domains.name))
    cures = {spec.name: _when_red(spec.description or "") for spec in checks}
    found = _Standing()
    runs: list[RunFacts] = []
    for record in records:
        run, run_id = record.dagster_run, record.dagster_run.run_id
        fallen = {one.domain: one for one in _fallen(instance, run_id, cures)}
        findings = list(_findings(instance, run_id, cures))
        ranged = _domains_of(run, keys)
        # Thousands of events a run: read where the end of the run alone does not say it.
        told_by_end = ranged and not only_mends(run) and run.status is not dg.DagsterRunStatus.CANCELED
        published = set() if told_by_end else _published_in(instance, run_id)
        for finding in findings:
            if finding.blocking and finding.domain not in fallen:
                # A run that was stopped names nobody at its end.
                stage = f"check {finding.check}"
                fallen[finding.domain] = Fallen(finding.domain, stage, finding.words, finding.cure)
        # A sweep has no range of domains: its own are those it says something about.
        mine = ranged or sorted({*fallen, *published})
        told = _Told(mine, fallen, findings, published, _run(record, len(mine)))
        if only_mends(run):
            found.mend(told)
        else:
            runs.append(told.run)
            found.ran(told)
    place = {key: i for i, key in enumerate(keys)}
    ordered = sorted(found.taking_part, key=lambda d: place.get(d, len(place)))
    return NightRuns(
        tuple(runs),
        tuple(ordered),
        tuple(found.fallen[d] for d in ordered if d in found.fallen),
        tuple(f for d in ordered for f in found.findings.get(d, ())),
        tuple(d for d in ordered if d in found.stopped),
        tuple(found.mended[d] for d in ordered if d in found.mended),
        tuple(_queue(instance, runs)),
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What one run says of its domains: those that fell, what checks found, and those that were published by it, where
    that is asked."""

    domains: Sequence[str]
    fallen: Mapping[str, Fallen]
    findings: Sequence[Finding]
    published: Collection[str]
    run: RunFacts

    def mended(self, domain: str, was: Fallen) -> Mended:
        return Mended(domain, self.run.ended_at, self.run.job, f"{was.stage}: {was.words}")


@dataclass
class _Standing:
    """Where each domain stands after the runs so far."""

    taking_part: dict[str, None] = field(default_factory=dict)
    fallen: dict[str, Fallen] = field(default_factory=dict)
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)
    mended: dict[str, Mended] = field(default_factory=dict)

    def ran(self, told: _Told) -> None:
        """A run that crawled: it says everything anew of its domains."""
        canceled = told.run.status == dg.DagsterRunStatus.CANCELED.value
        for domain in told.domains:
            self.taking_part[domain] = None
            was = self.fallen.pop(domain, None)
            self.findings.pop(domain, None)
            self.stopped.discard(domain)
            if domain in told.fallen:
                self.fallen[domain] = told.fallen[domain]
                self.mended.pop(domain, None)
            elif canceled and domain not in told.published:
                self.stopped.add(domain)
            elif was is not None:
                self.mended[domain] = told.mended(domain, was)
        self._find(told)

    def mend(self, told: _Told) -> None:
        """A run that made tables again: what was not fetched it cannot mend, and checks of the fetch stay."""
        for domain in told.domains:
            was = self.fallen.get(domain)
            reachable = was is None or after_the_web(was.stage)
            if domain in self.findings:
                self.findings[domain] = [f for f in self.findings[domain] if f.check not in OF_TABLES]
            if domain in told.fallen and reachable:
                self.fallen[domain] = told.fallen[domain]
                self.mended.pop(domain, None)
            elif domain in told.published and was is not None and reachable:
                del self.fallen[domain]
                self.mended[domain] = told.mended(domain, was)
        self._find(told)

    def _find(self, told: _Told) -> None:
        for finding in told.findings:
            self.findings.setdefault(finding.domain, []).append(finding)


def _domains_of(run: dg.DagsterRun, keys: Sequence[str]) -> list[str]:
    first = run.tags.get("dagster/asset_partition_range_start") or run.tags.get("dagster/partition")
    last = run.tags.get("dagster/asset_partition_range_end") or first
    if first is None or last is None or first not in keys or last not in keys:
        return [d for d in (first, last) if d is not None]
    return list(keys[keys.index(first) : keys.index(last) + 1])


def _run(record: RunRecord, count: int) -> RunFacts:
    run = record.dagster_run
    started = record.start_time or record.create_timestamp.timestamp()
    ui = os.environ.get("NIGHTCRAWL_UI", "").rstrip("/")
    return RunFacts(
        run.run_id,
        "stages" if run.job_name.startswith("__") else run.job_name,
        run.status.value,
        started,
        record.end_time or time.time(),
        count,
        f"{ui}/runs/{run.run_id}" if ui else "",
    )


def _when_red(description: str) -> str:
    """What a check's description says to do."""
    found = re.search(r"When (?:red|it fails)[:,] (.+)", description, re.DOTALL)
    cure = found[1].strip() if found else description
    return cure[:1].upper() + cure[1:]


def _events(
    instance: dg.DagsterInstance, run_id: str, kind: dg.DagsterEventType
) -> Iterator[dg.EventLogRecord]:
    """The events of one kind, oldest first; a night over thousands of domains has tens of thousands."""
    cursor: str | None = None
    more = True
    while more:
        page = instance.get_records_for_run(run_id, cursor, kind, AT_ONCE)
        yield from page.records
        cursor, more = page.cursor, page.has_more


def _fallen(instance: dg.DagsterInstance, run_id: str, cures: dict[str, str]) -> Iterator[Fallen]:
    for record in _events(instance, run_id, dg.DagsterEventType.STEP_FAILURE):
        event = record.event_log_entry.dagster_event
        failure = event.step_failure_data.user_failure_data if event is not None else None
        named = failure.metadata.get("fallen") if failure is not None else None
        if named is None or not isinstance(named.value, dict):
            continue
        for domain, (stage, words) in cast("dict[str, list[str]]", named.value).items():
            yield Fallen(domain, stage, words, _cure(stage, words, cures))


def _cure(stage: str, words: str, cures: dict[str, str]) -> str:
    """What mends a domain that fell. Numbered cases: 1. a check: its description; 2. the causes named in the words;
    3. robots.txt; 4. the site file; 5. paused; 6. leased; 7. the stage's own description."""
    if stage.startswith("check "):
        return cures.get(stage.removeprefix("check "), "See the check's description.")
    named = words.rpartition(": ")[2]
    causes = [part.partition(" (")[0].strip() for part in named.split(",")]
    known = [failure_kind(c).mend for c in causes if c and failure_kind(c).mend != failure_kind("").mend]
    if known:
        return " ".join(dict.fromkeys(known))
    if "robots.txt" in words:
        return (
            "While its robots.txt cannot be read nothing may be fetched (RFC 9309). Open it in a browser: if the site "
            "is down, wait and materialize again; if it answers you, it turns this machine's address away."
        )
    if stage == "site file":
        return "Run nightcrawl check: it names the line and what to write instead."
    if words.startswith("paused"):
        return (
            "The site throttles or blocks us: see ban_signals, read its terms, ask its owner, lower the pace."
        )
    if words.startswith("leased"):
        return "Another run crawls this domain: wait for it, then materialize again."
    return f"The asset {stage} says what to do when it is red; nightcrawl why URL has a page's whole story."


def _findings(instance: dg.DagsterInstance, run_id: str, cures: dict[str, str]) -> Iterator[Finding]:
    for record in _events(instance, run_id, dg.DagsterEventType.ASSET_CHECK_EVALUATION):
        event = record.event_log_entry.dagster_event
        if event is None:
            continue
        found = event.asset_check_evaluation_data
        if found.passed or found.partition is None:
            continue
        name = found.check_name
        yield Finding(
            str(found.partition),
            name,
            found.description or "failed",
            cures.get(name, ""),
            bool(found.blocking) and found.severity is dg.AssetCheckSeverity.ERROR,
        )


def _published_in(instance: dg.DagsterInstance, run_id: str) -> set[str]:
    """Domains that a run took to the end before it was stopped."""
    events = _events(instance, run_id, dg.DagsterEventType.ASSET_MATERIALIZATION)
    found = (r.asset_materialization for r in events)
    last = dg.AssetKey(PUBLISHED)
    return {m.partition for m in found if m is not None and m.asset_key == last and m.partition is not None}


def _queue(instance: dg.DagsterInstance, runs: Sequence[RunFacts]) -> list[QueuePoint]:
    """The queue of all runs together: at each instant the sum of what the runs under way said last."""
    if not runs:
        return []
    found = instance.fetch_observations(
        dg.AssetRecordsFilter(
            dg.AssetKey(PROGRESS_OF),
            after_timestamp=min(r.started_at for r in runs) - 1,
            before_timestamp=max(r.ended_at for r in runs) + 1,
        ),
        limit=POINTS,
        ascending=True,
    ).records
    mine = {r.run_id for r in runs}
    told: dict[str, list[QueuePoint]] = {}
    for record in found:
        seen = record.asset_observation
        if seen is None or record.run_id not in mine or "queue" not in seen.metadata:
            continue
        told.setdefault(record.run_id, []).append(
            QueuePoint(record.timestamp, int(cast("int", seen.metadata["queue"].value)))
        )
    instants = _thinned(sorted({p.at for ps in told.values() for p in ps}))
    points = [QueuePoint(at, sum(_at(ps, at) for ps in told.values())) for at in instants]
    for one, other in itertools.pairwise(instants):
        middle = (one + other) / 2
        if not any(ps[0].at < middle < ps[-1].at for ps in told.values()):
            points.append(QueuePoint(middle, None))
    return sorted(points, key=lambda p: p.at)


def _at(points: Sequence[QueuePoint], at: float) -> int:
    """What a run said last at `at`; 0 before its first word and after its last."""
    if not points[0].at <= at <= points[-1].at:
        return 0
    return next(p.queue or 0 for p in reversed(points) if p.at <= at)


def _thinned(instants: Sequence[float], at_most: int = 120) -> list[float]:
    """At most so many, evenly taken, with the first and the last."""
    if len(instants) <= at_most:
        return list(instants)
    step = (len(instants) - 1) / (at_most - 1)
    return [instants[round(i * step)] for i in range(at_most)]
