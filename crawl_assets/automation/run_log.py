"""What the log of one run says of a domain: the same events, with their metadata as one line instead of dozens of entries.

The page of a run reads its whole log and sends it to the browser: a run of 250 domains has 8,000 events, and each entry
of metadata, each column of a table's schema and each step of its lineage is an object of its own on the way, a quarter
of a million in all. Dagster stores an event of an asset twice: in the log of its run, and in the log of all runs, from
which the pages of assets, partitions and checks, the plots, sensors and conditions read. Only the first copy is short:
it has every number but zeros, as text, and leaves out what is long. The event that is about no domain stays as it is.
Checks that passed are three of five events of a night: the run says them in one line a domain (stages/verdicts.py), and
its log has no event of each. One that failed has its event, and so has one that passed after it had failed in the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation
from dagster._core.events import (
    AssetMaterializationPlannedData,
    AssetObservationData,
    StepMaterializationData,
)
from dagster._core.events.log import EventLogEntry
from dagster_shared.record import replace

__all__ = ["LABEL", "Passed", "in_short", "one_line", "planned"]

#: The only entry of a short event, and where the others are.
LABEL = "in short (all of it: on the asset's page, by partition)"
#: Texts that are longer are left out: tables, lists, commands.
LONGEST = 160
#: The whole line; what is beyond has the page of the asset.
LINE = 1_500
#: Entries that are Dagster's own and worth a word.
_NAMES = {"dagster/partition_row_count": "rows"}


def in_short(event: EventLogEntry) -> EventLogEntry:
    """The event as the log of its run has it. Numbered cases: 1. a domain's materialization; 2. its observation: their
    metadata in one line; 3. the result of a check about it: so, or without any if it passed, whose words are enough;
    4. any other event: itself."""
    told = event.dagster_event
    data: Any = told.event_specific_data if told is not None else None
    short: Any = None
    if isinstance(data, StepMaterializationData) and data.materialization.partition is not None:
        short = data._replace(materialization=_short(data.materialization))
    elif isinstance(data, AssetObservationData) and data.asset_observation.partition is not None:
        short = data._replace(asset_observation=_short(data.asset_observation))
    elif isinstance(data, AssetCheckEvaluation) and data.partition is not None:
        short = data.with_metadata({}) if data.passed else _short(data)
        short = replace(short, target_materialization_data=None)
    if told is None or short is None:
        return event
    return event._replace(
        # The step, its node and the run are each told three times; once is enough to be found by.
        dagster_event=told._replace(
            event_specific_data=short, logging_tags={}, node_handle=None, step_handle=None
        )
    )


class Passed:
    """Tells which results of checks are said together, while runs of this process write."""

    def __init__(self) -> None:
        self._failed: set[tuple[str, dg.AssetCheckKey, str]] = set()

    def together(self, event: EventLogEntry) -> bool:
        """Whether the log of the run has no event of it. To be asked of every event, in their order."""
        told = event.dagster_event
        data = told.event_specific_data if told is not None else None
        if told is None or told.step_key is None or not isinstance(data, AssetCheckEvaluation):
            return False
        if data.partition is None:
            return False
        place = (event.run_id, data.asset_check_key, data.partition)
        if not data.passed:
            self._failed.add(place)
        return data.passed and place not in self._failed


def planned(events: Sequence[EventLogEntry]) -> list[EventLogEntry]:
    """Announcements as the log of their run has them: of each asset one, about no domain, instead of one a domain, which
    stood before everything else. Others as they are."""
    found: dict[object, EventLogEntry] = {}
    for number, event in enumerate(events):
        told = event.dagster_event
        data = told.event_specific_data if told is not None else None
        if told is None or not isinstance(data, AssetMaterializationPlannedData) or data.partition is None:
            found[number] = event
        elif data.asset_key not in found:
            whole = AssetMaterializationPlannedData(data.asset_key)
            found[data.asset_key] = event._replace(dagster_event=told._replace(event_specific_data=whole))
    return list(found.values())


def _short(about: Any) -> Any:
    line = one_line(about.metadata)
    return about.with_metadata({LABEL: dg.MetadataValue.text(line)} if line else {})


def one_line(metadata: Mapping[str, dg.MetadataValue[Any]]) -> str:
    """`pages 15, fetched 15, rate per s 2.0, …`: what of it says something in a line, in its order."""
    return ", ".join(_pieces(metadata))[:LINE]


def _pieces(metadata: Mapping[str, dg.MetadataValue[Any]]) -> Iterator[str]:
    """Numbered cases: 1. an instant; 2. a number, a truth or a short text; 3. left out: nothing, and what is long, a
    path or no text."""
    for name, entry in metadata.items():
        value = entry.value
        if not value or isinstance(entry, dg.PathMetadataValue):
            continue
        if name.startswith("dagster/") and name not in _NAMES:
            continue
        shown = _NAMES.get(name, name)
        if isinstance(entry, dg.TimestampMetadataValue):
            yield f"{shown} {datetime.fromtimestamp(entry.value, UTC):%Y-%m-%d %H:%M} UTC"
        elif isinstance(value, int | float) or (
            isinstance(value, str) and len(value) <= LONGEST and "\n" not in value
        ):
            yield f"{shown} {value}"
