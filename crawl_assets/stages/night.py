"""One run over its domains: who is still in play, who fell out and why; the only place that tells Dagster.

* A domain that fails *falls*: later stages leave it out, the others go on. At the end the run fails by naming the
  fallen, which makes exactly their partitions red and leaves those of the others green.
* Every stage reports each domain by itself, the moment it is done: an `AssetMaterialization` of that partition.
* Events are written by one thread, in order: a write takes some 8 ms and must not hold up the event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import dagster as dg
from dagster import AssetCheckEvaluation
from pydantic import Field

from crawl_assets.checks.finding import Finding
from crawl_assets.stages.verdicts import Verdicts
from resources.installation import Installation
from resources.site.catalog import Catalog
from resources.site.load import Problem

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.order import DomainReport
    from resources.crawler.seeding import SeedReport
    from resources.crawler.storage import Storage

__all__ = ["NIGHT_TAG", "Fallen", "Night", "NightConfig", "Telling"]

#: The run tag that names the night a run belongs to.
NIGHT_TAG = "nightcrawl/night"

T = TypeVar("T")
Event = dg.AssetMaterialization | dg.AssetObservation | AssetCheckEvaluation


class NightConfig(dg.Config):
    """What a run may be told. Everything has the value a plain "Materialize" wants."""

    force: bool = Field(default=False, description="Fetch every known page again, due or not.")
    max_pages: int | None = Field(
        default=None, description="Most pages per domain in this run; the rest stays pending."
    )
    max_minutes: float | None = Field(
        default=None, description="The fetch ends after that long; the rest stays pending."
    )
    causes: list[str] = Field(
        default_factory=list,
        description="Retry pass: only failures of these causes (dns, http_500, ...). Empty: all that are eligible.",
    )
    retry_all: bool = Field(default=False, description="Retry pass: also failures not eligible yet.")
    parse_all: bool = Field(default=False, description="Parse every stored page again, changed or not.")
    publish_anyway: bool = Field(
        default=False,
        description="Publish although an audit failed: by your decision, this run's rows replace the published ones.",
    )


@dataclass(frozen=True, slots=True)
class Fallen:
    """A domain that is out: at which stage, and why in words."""

    stage: str
    words: str


@dataclass(frozen=True, slots=True)
class Telling:
    """How a run talks to Dagster: the context's own calls, so that assets and plain ops can both run a night."""

    log_event: Callable[[Event], None]
    info: Callable[[str], None]
    warning: Callable[[str], None]


class Night:
    """See the module docstring. `selected` and `checks` are what the run was asked to do."""

    def __init__(
        self,
        installation: Installation,
        run_id: str,
        domains: Sequence[str],
        selected: Iterable[str],
        checks: Iterable[tuple[str, str]],
        telling: Telling,
        config: NightConfig,
        stop: asyncio.Event,
        instance: dg.DagsterInstance,
        night: str = "",
    ) -> None:
        self.installation = installation
        self.run_id = run_id
        self.domains = tuple(domains)
        self.selected = frozenset(selected)
        self.checks = frozenset(checks)
        self.config = config
        self.stop = stop
        self.started_at = time.time()
        self.named = bool(night)
        self.name = night or datetime.now(UTC).date().isoformat()
        self.reports: dict[str, DomainReport] = {}
        self.seeded: dict[str, SeedReport] = {}
        self.fallen: dict[str, Fallen] = {}
        self.unfinished: set[str] = set()
        self.done: set[tuple[str, str]] = set()
        self.catalog: Catalog
        self.problems: list[Problem] = []
        self.storage: Storage
        self._telling = telling
        self.instance = instance
        self._versions: dict[tuple[str, str], str] = {}
        self._verdicts = Verdicts(self)
        self._teller = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nightcrawl-events")

    async def __aenter__(self) -> Night:
        from resources.crawler.storage import Storage

        self.installation.prepare()
        self.catalog, self.problems = self.installation.usable_catalog()
        for problem in self.problems:
            self._telling.warning(f"site file left out: {problem}")
        broken = (
            f"; {len(self.problems)} problem(s) in site files, the first: {self.problems[0]}"
            if self.problems
            else ""
        )
        for domain in self.domains:
            if self.catalog.for_domain(domain) is None:
                self.fall(domain, "site file", f"no usable site file covers this domain{broken}")
        self.storage = await Storage(
            lambda: (self.installation.open_frontier(), self.installation.open_pages())
        ).open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.storage.close()
        self._teller.shutdown(wait=True)

    # -- who is in -----------------------------------------------------------------------------------
    @property
    def in_play(self) -> tuple[str, ...]:
        """Domains that go on to the next stage; none once the run was asked to stop."""
        if self.stop.is_set():
            return ()
        return tuple(d for d in self.domains if d not in self.fallen and d not in self.unfinished)

    def does(self, asset: str) -> bool:
        return asset in self.selected

    def asks(self, spec: dg.AssetCheckSpec) -> bool:
        return (spec.asset_key.to_user_string(), spec.name) in self.checks

    def fall(self, domain: str, stage: str, words: str) -> None:
        """Leave the domain out of what follows. The first reason stays."""
        if domain not in self.fallen:
            self.fallen[domain] = Fallen(stage, words)
            self._telling.warning(f"{domain}: {stage}: {words}")

    async def tag_run(self) -> None:
        """Let a run that was started by hand belong to its night too: one tag, one report."""
        await self.call(self.instance.add_run_tags, self.run_id, {NIGHT_TAG: self.name})

    def say(self, words: str) -> None:
        self._telling.info(words)

    # -- telling Dagster -----------------------------------------------------------------------------
    async def materialized(
        self, asset: str, domain: str, metadata: Mapping[str, Any], tags: Mapping[str, str] | None = None
    ) -> None:
        """The domain's partition of `asset` is done."""
        self.done.add((asset, domain))
        if tags and "dagster/data_version" in tags:
            self._versions[asset, domain] = tags["dagster/data_version"]
        await self._tell(
            dg.AssetMaterialization(
                dg.AssetKey(asset),
                partition=domain,
                metadata=dict(metadata),
                tags=dict(tags) if tags else None,
            )
        )
        await self._verdicts.materialized(asset, domain)

    async def observed(self, asset: str, metadata: Mapping[str, Any], domain: str | None = None) -> None:
        """A look at something unfinished: progress, or what was reached before a stop."""
        await self._tell(dg.AssetObservation(dg.AssetKey(asset), partition=domain, metadata=dict(metadata)))

    async def found(self, spec: dg.AssetCheckSpec, domain: str, finding: Finding) -> None:
        """Record a check of one domain; a failed blocking one takes the domain out of play."""
        out = not finding.passed and spec.blocking and finding.severity is dg.AssetCheckSeverity.ERROR
        await self._verdicts.add(spec, domain, finding, at_once=bool(out))
        if out:
            self.fall(domain, f"check {spec.name}", finding.words)

    async def close_checks(self, specs: Iterable[dg.AssetCheckSpec]) -> None:
        """At the end: tell what still waits, and of fallen domains which checks nobody came to."""
        await self._verdicts.close([s for s in specs if self.asks(s)])

    async def latest_version(self, asset: str, domain: str) -> str | None:
        """The data version of the domain's last materialization of `asset`, of this run or of an earlier one."""
        if (known := self._versions.get((asset, domain))) is not None:
            return known
        record = await self.latest(asset, domain)
        event = record.asset_materialization if record is not None else None
        return (event.tags or {}).get("dagster/data_version") if event is not None else None

    async def latest(self, asset: str, domain: str) -> dg.EventLogRecord | None:
        """The newest materialization of the domain's partition of `asset`."""
        chosen = dg.AssetRecordsFilter(dg.AssetKey(asset), asset_partitions=[domain])
        found = await self.call(lambda: self.instance.fetch_materializations(chosen, limit=1))
        return found.records[0] if found.records else None

    async def said(self, words: str) -> None:
        """A line of the run's log, when many are to come: they must not hold up the event loop."""
        await self.call(self._telling.info, words)

    async def evaluated(self, evaluation: AssetCheckEvaluation) -> None:
        """One line of a check's history, ready to be written."""
        await self._tell(evaluation)

    async def _tell(self, event: Event) -> None:
        await self.call(self._telling.log_event, event)

    async def call(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run a blocking call in the thread that talks to Dagster."""
        return await asyncio.get_running_loop().run_in_executor(self._teller, work, *arguments)

    # -- the end -------------------------------------------------------------------------------------
    def failure(self) -> dg.Failure | None:
        """What the run ends with when domains fell: their names and reasons. No automatic retry: it was no accident."""
        if not self.fallen:
            return None
        shown = list(self.fallen.items())
        lines = ["| domain | stage | why |", "| --- | --- | --- |"]
        lines += [f"| {d} | {f.stage} | {f.words.replace('|', '/')} |" for d, f in shown[:200]]
        first = "; ".join(f"{d} ({f.stage}: {f.words})" for d, f in shown[:5])
        more = f"; and {len(shown) - 5} more, see the metadata" if len(shown) > 5 else ""
        return dg.Failure(
            f"{len(shown)} of {len(self.domains)} domain(s) failed, the others are done: {first}{more}",
            metadata={
                "failed domains": dg.MetadataValue.md("\n".join(lines)),
                "failed": len(shown),
                "fallen": dg.MetadataValue.json({d: [f.stage, f.words] for d, f in shown}),
            },
            allow_retries=False,
        )
