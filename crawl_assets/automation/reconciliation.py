"""Clears what Dagster leaves behind when processes die: runs that are STARTED for ever, pool slots that stay taken.

A night writes who works for it into a run tag (`host:pid:start of the process:run`). A run whose process is gone from
this machine is reported as what it is; its slots are freed; run_retries resumes it if it broke off just now.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

import dagster as dg

from resources.crawler.liveness import process_start

__all__ = ["WORKER_TAG", "Cleared", "clear_lost_runs", "this_process"]

WORKER_TAG = "nightcrawl/worker"

#: A run without the tag has not reached its step; being canceled for that long, it never will.
UNTAGGED_AFTER_S = 300.0
#: A run that broke off longer ago than this is not resumed by itself: its night may be over.
RESUME_WITHIN_S = 1_800.0


@dataclass(frozen=True, slots=True)
class Cleared:
    """A run that was reported ended, and as what."""

    run_id: str
    status: dg.DagsterRunStatus
    words: str


def this_process(run_id: str) -> str:
    """The value of `WORKER_TAG` for a run of this process. The run is named: a retried run inherits the tags."""
    return f"{socket.gethostname()}:{os.getpid()}:{process_start(os.getpid()) or ''}:{run_id[:8]}"


def _gone(worker: str) -> bool:
    parts = worker.rsplit(":", 3)
    if len(parts) != 4 or parts[0] != socket.gethostname() or not parts[1].isdigit():
        return False  # another machine: its own Dagster judges
    return process_start(int(parts[1])) != parts[2]


def clear_lost_runs(
    instance: dg.DagsterInstance, *, now: Callable[[], float] = time.time, all_untagged: bool = False
) -> list[Cleared]:
    """Report runs whose process is gone. `all_untagged`: nothing can be starting (the start command asks so)."""
    unfinished = [
        dg.DagsterRunStatus.STARTING,
        dg.DagsterRunStatus.STARTED,
        dg.DagsterRunStatus.CANCELING,
    ]
    cleared = []
    for record in instance.get_run_records(dg.RunsFilter(statuses=unfinished)):
        run = record.dagster_run
        worker = run.tags.get(WORKER_TAG, "")
        silent_s = now() - record.update_timestamp.timestamp()
        tagged = worker.endswith(f":{run.run_id[:8]}")
        if tagged and not _gone(worker):
            continue
        # Untagged: it may be about to start; Dagster's own start timeout takes care of runs that never do.
        stuck = run.status is dg.DagsterRunStatus.CANCELING and silent_s > UNTAGGED_AFTER_S
        if not tagged and not all_untagged and not stuck:
            continue
        cleared.append(_report(instance, run, silent_s))
    return cleared


def _report(instance: dg.DagsterInstance, run: dg.DagsterRun, silent_s: float) -> Cleared:
    words = f"its process is gone (no sign for {silent_s:.0f} s); pages fetched until then are kept"
    if run.status is dg.DagsterRunStatus.CANCELING:
        instance.report_run_canceled(run, f"Canceled: {words}.")
        status = dg.DagsterRunStatus.CANCELED
    else:
        if silent_s > RESUME_WITHIN_S:
            instance.add_run_tags(run.run_id, {"dagster/max_retries": "0"})
        instance.report_run_failed(run, f"Lost: {words}. Materialize again to go on.")
        status = dg.DagsterRunStatus.FAILURE
    storage = instance.event_log_storage
    if storage.supports_global_concurrency_limits:
        storage.free_concurrency_slots_for_run(run.run_id)
    return Cleared(run.run_id, status, words)
