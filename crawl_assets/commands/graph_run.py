"""Runs a job of the Dagster graph in this process, over some domains, so that the UI shows it like any other run.

The run has the instance of `nightcrawl ui` (see `instance.dagster_home`): its events, checks and metadata are the
same, only the launcher is not involved. Domains that stand next to each other among the partitions are one run
and crawled at once, as in a backfill.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .exit_codes import ExitCode
from .failures import CommandFailed
from .instance import dagster_home

if TYPE_CHECKING:
    import dagster as dg
    from dagster_shared.error import SerializableErrorInfo

    from resources.installation import Installation

__all__ = ["GraphOutcome", "run_graph"]

#: Dagster would redirect standard output into a file for the UI, and with it the progress display.
_NO_CAPTURE = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
    }
}
#: Domains of one run here, where runs follow each other: with few, a slow domain at the end of one would keep all
#: others waiting. A thousand hold 1.7 GB.
AT_ONCE = 1_000
#: Classes of errors that mean storage is in trouble.
_STORAGE = {"FrontierError", "FrontierFull", "PageStoreError", "LedgerError", "StorageStuck", "WarehouseError",
            "WarehouseBusy", "PublishError", "OperationalError", "OSError"}  # fmt: skip


@dataclass(slots=True)
class GraphOutcome:
    """`fallen`: why, by domain. `findings`: checks that failed without taking their domain out."""

    fallen: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    run_ids: list[str] = field(default_factory=list)
    interrupted: bool = False


def run_graph(
    installation: Installation,
    job: str,
    domains: Iterable[str],
    config: Mapping[str, Any],
    on_run: Callable[[Callable[[], None]], None] = lambda cancel: None,
    tell: Callable[[str], None] = lambda words: None,
) -> GraphOutcome:
    """Execute `job` over `domains`. `on_run` is given a call that asks the run to stop, before each run."""
    import dagster as dg
    from dagster._core.instance.ref import InstanceRef

    from crawl_assets.definitions import defs  # first: it silences Dagster's warnings about beta features

    from crawl_assets.automation.start import prepare  # isort: skip
    from crawl_assets.partitions import contiguous
    from crawl_assets.partitions import domains as partitions
    from crawl_assets.stages.pipeline import NIGHT_TAG, night

    wanted = tuple(domains)
    outcome = GraphOutcome()
    home = dagster_home(installation)
    # The stages read where everything is from the environment, as in any other process of Dagster's.
    os.environ["NIGHTCRAWL_DATA"], os.environ["NIGHTCRAWL_SITES"] = (
        str(installation.data),
        str(installation.sites),
    )
    prepare(home, installation)
    definition = defs().resolve_job_def(job)
    tags = {NIGHT_TAG: datetime.now(UTC).strftime("%Y-%m-%d"), "nightcrawl/by": "command line"}
    run_config = {
        "ops": {night.op.name: {"config": dict(config)}},
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
    }
    with dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(home), overrides=_NO_CAPTURE)) as instance:
        keys = instance.get_dynamic_partitions(str(partitions.name))
        if missing := [d for d in wanted if d not in keys]:
            raise CommandFailed(
                f"no site file names {', '.join(missing)}: a wildcard's hosts come up as they are met"
            )
        for first, last, _ in contiguous(keys, wanted, AT_ONCE):
            run_id = str(uuid.uuid4())
            outcome.run_ids.append(run_id)
            on_run(lambda run_id=run_id: _cancel(instance, run_id))  # type: ignore[misc]
            tell(f"run {run_id}")
            stretch = {
                "dagster/asset_partition_range_start": first,
                "dagster/asset_partition_range_end": last,
            }
            try:
                result = definition.execute_in_process(
                    run_config=run_config,
                    instance=instance,
                    tags=tags | stretch,
                    run_id=run_id,
                    raise_on_error=False,
                )
            except dg.DagsterExecutionInterruptedError:
                outcome.interrupted = True
                break
            _read(result, outcome)
    return outcome


def _cancel(instance: dg.DagsterInstance, run_id: str) -> None:
    from crawl_assets.stages.stoppable import stop_here

    run = instance.get_run_by_id(run_id)
    if run is not None and not run.is_finished:
        instance.report_run_canceling(run, message="stopped at the command line")
    stop_here(run_id)


def _read(result: dg.ExecuteInProcessResult, outcome: GraphOutcome) -> None:
    """What the run's events say of its domains; a step that failed otherwise is an error of the whole."""
    import dagster as dg

    for event in result.all_events:
        if event.is_step_failure:
            failure = event.step_failure_data
            metadata = failure.user_failure_data.metadata if failure.user_failure_data else {}
            fallen = metadata.get("fallen")
            if not isinstance(fallen, dg.JsonMetadataValue) or not isinstance(fallen.data, dict):
                _raise(failure.error, outcome)
                continue
            for domain, (stage, why) in fallen.data.items():
                outcome.fallen[domain] = f"{stage}: {why}"
        elif event.event_type_value == "ASSET_CHECK_EVALUATION":
            check = event.asset_check_evaluation_data
            if not check.passed:
                where = f"{check.partition}: " if check.partition else ""
                outcome.findings.append(f"{where}check {check.check_name}: {check.description or 'failed'}")
    if not result.success and not outcome.fallen and not outcome.interrupted:
        raise CommandFailed("the run failed; nightcrawl ui shows its log", ExitCode.INTERNAL)


def _raise(error: SerializableErrorInfo | None, outcome: GraphOutcome) -> None:
    """What a step failed with arrives as text. Numbered cases of its class, anywhere in the chain of causes:

    1. it was asked to stop; 2. storage; 3. anything else, which is a defect.
    """
    chain = []
    while error is not None:
        chain.append(error)
        error = error.cause
    names = {link.cls_name for link in chain}
    if "DagsterExecutionInterruptedError" in names:
        outcome.interrupted = True
        return
    words = chain[-1].message.strip() if chain else "a step failed"
    if names & _STORAGE:
        raise CommandFailed(words, ExitCode.STORAGE)
    raise RuntimeError("\n".join([words, *(line.rstrip() for link in chain[-1:] for line in link.stack)]))
