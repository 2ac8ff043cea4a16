"""What a check found: a verdict, words that say what to do, and numbers to plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
from dagster._core.definitions.metadata import normalize_metadata

from crawl_assets.partitions import domains

__all__ = ["ERROR", "WARN", "Finding", "domain_check"]

ERROR = dg.AssetCheckSeverity.ERROR
WARN = dg.AssetCheckSeverity.WARN


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check for one domain. Numbers keep their type from night to night, so that they plot."""

    passed: bool
    words: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    severity: dg.AssetCheckSeverity = ERROR

    def as_metadata(self) -> Mapping[str, dg.MetadataValue[Any]]:
        return normalize_metadata(dict(self.numbers))


def domain_check(name: str, asset: str, description: str, *, blocking: bool = False) -> dg.AssetCheckSpec:
    """The declaration of a check that is evaluated for each domain by itself.

    The stages evaluate it and log one `AssetCheckEvaluation` per partition: Dagster's own check results carry no
    partition when a run covers several.
    """
    return dg.AssetCheckSpec(
        name, asset=asset, description=description, blocking=blocking, partitions_def=domains
    )
