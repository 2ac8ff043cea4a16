"""When and how the findings of a run's checks are told to Dagster.

Dagster shows a partition's check result only while it is about the newest materialization of that partition, and
counts a check that a failed run planned and never evaluated as failed. So here

* each evaluation names the materialization it is about;
* what is known before its asset is materialized (canaries come before seeds) waits for the materialization, unless it
  takes the domain out: then there will be none, and it is told at once;
* those that passed are said once more in the run's own log, in one line a domain: what Dagster would write there of
  each is most of the log, which the page of the run reads whole (automation/run_log.py leaves it out);
* at the end, for a domain that fell, the checks nobody came to say so and where it fell: red is what went wrong, and
  not everything behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Protocol

import dagster as dg
from dagster import AssetCheckEvaluation
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData,
)

from crawl_assets.checks.finding import Finding

__all__ = ["Verdicts"]


class _Fallen(Protocol):
    """A domain that is out."""

    @property
    def stage(self) -> str: ...


class _Night(Protocol):
    """What is asked of the run the findings belong to (`night.Night`), and told to it."""

    @property
    def done(self) -> Set[tuple[str, str]]: ...
    @property
    def fallen(self) -> Mapping[str, _Fallen]: ...
    def does(self, asset: str) -> bool: ...
    async def latest(self, asset: str, domain: str) -> dg.EventLogRecord | None: ...
    async def evaluated(self, evaluation: AssetCheckEvaluation) -> None: ...
    async def said(self, words: str) -> None: ...


class Verdicts:
    """The findings of one run."""

    def __init__(self, night: _Night) -> None:
        self._night = night
        self._waiting: dict[tuple[str, str], list[tuple[dg.AssetCheckSpec, Finding]]] = {}
        self._told: set[tuple[dg.AssetCheckKey, str]] = set()
        self._passed: dict[str, dict[str, list[str]]] = {}
        """Names of checks by domain and words."""
        self._targets: dict[tuple[str, str], AssetCheckEvaluationTargetMaterializationData | None] = {}

    async def add(self, spec: dg.AssetCheckSpec, domain: str, finding: Finding, *, at_once: bool) -> None:
        """Tell a finding now, or as soon as its asset is materialized."""
        place = (spec.asset_key.to_user_string(), domain)
        if not at_once and self._night.does(place[0]) and place not in self._night.done:
            self._waiting.setdefault(place, []).append((spec, finding))
        else:
            await self._tell(spec, domain, finding)

    async def materialized(self, asset: str, domain: str) -> None:
        """The domain's partition of `asset` is new: what waited for it is told."""
        self._targets.pop((asset, domain), None)
        for spec, finding in self._waiting.pop((asset, domain), ()):
            await self._tell(spec, domain, finding)

    async def close(self, specs: Iterable[dg.AssetCheckSpec]) -> None:
        """Tell what still waits; for fallen domains, which of `specs` were not looked at; and what passed."""
        for (_, domain), findings in self._waiting.items():
            for spec, finding in findings:
                await self._tell(spec, domain, finding)
        self._waiting.clear()
        wanted = list(specs)
        for domain, fallen in self._night.fallen.items():
            words = f"not looked at: the domain fell at {fallen.stage}"
            for spec in wanted:
                if (spec.key, domain) not in self._told:
                    await self._tell(spec, domain, Finding(True, words))
        for domain, passed in self._passed.items():
            said = "; ".join(f"{', '.join(names)}: {words}" for words, names in passed.items())
            await self._night.said(f"{domain}: checks passed: {said}")
        self._passed.clear()

    async def _tell(self, spec: dg.AssetCheckSpec, domain: str, finding: Finding) -> None:
        self._told.add((spec.key, domain))
        if finding.passed:
            self._passed.setdefault(domain, {}).setdefault(finding.words, []).append(spec.name)
        await self._night.evaluated(
            AssetCheckEvaluation(
                asset_key=spec.asset_key,
                check_name=spec.name,
                passed=finding.passed,
                metadata=finding.as_metadata(),
                target_materialization_data=await self._target(spec.asset_key.to_user_string(), domain),
                severity=finding.severity,
                description=finding.words,
                blocking=spec.blocking,
                partition=domain,
            )
        )

    async def _target(self, asset: str, domain: str) -> AssetCheckEvaluationTargetMaterializationData | None:
        """The newest materialization of the partition; one look at the event log for each."""
        if (asset, domain) not in self._targets:
            record = await self._night.latest(asset, domain)
            self._targets[asset, domain] = (
                AssetCheckEvaluationTargetMaterializationData(
                    storage_id=record.storage_id, run_id=record.run_id, timestamp=record.timestamp
                )
                if record is not None
                else None
            )
        return self._targets[asset, domain]
