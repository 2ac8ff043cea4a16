"""Runs whose process is gone are reported; those of living processes are left alone."""

from __future__ import annotations

import subprocess
import sys

import dagster as dg
from dagster._core.utils import make_new_run_id

from crawl_assets.automation.reconciliation import WORKER_TAG, clear_lost_runs, this_process
from tests.dagster.conftest import House


def started(
    house: House, worker: str | None, status: dg.DagsterRunStatus = dg.DagsterRunStatus.STARTED
) -> str:
    run_id = make_new_run_id()
    tags = {WORKER_TAG: worker.format(run=run_id[:8])} if worker is not None else {}
    house.instance.run_storage.add_run(
        dg.DagsterRun(job_name="night", run_id=run_id, status=status, tags=tags)
    )
    return run_id


def dead_worker() -> str:
    child = subprocess.Popen([sys.executable, "-c", ""])
    pid = child.pid
    child.wait()
    host = this_process("x").split(":")[0]
    return f"{host}:{pid}:12345:{{run}}"


def status(house: House, run_id: str) -> dg.DagsterRunStatus:
    run = house.instance.get_run_by_id(run_id)
    assert run is not None
    return run.status


def test_a_run_of_a_dead_process_is_reported_failed(house: House) -> None:
    run_id = started(house, dead_worker())
    (cleared,) = clear_lost_runs(house.instance)
    assert cleared.run_id == run_id
    assert status(house, run_id) is dg.DagsterRunStatus.FAILURE


def test_one_that_was_being_terminated_is_reported_canceled(house: House) -> None:
    run_id = started(house, dead_worker(), dg.DagsterRunStatus.CANCELING)
    clear_lost_runs(house.instance)
    assert status(house, run_id) is dg.DagsterRunStatus.CANCELED


def test_a_living_process_keeps_its_run(house: House) -> None:
    mine = this_process("12345678").rpartition(":")[0] + ":{run}"
    run_id = started(house, mine)
    assert clear_lost_runs(house.instance) == []
    assert status(house, run_id) is dg.DagsterRunStatus.STARTED


def test_a_pid_that_is_used_again_does_not_count_as_alive(house: House) -> None:
    host, pid, _, _ = this_process("12345678").split(":")
    started(house, f"{host}:{pid}:1:{{run}}")
    assert len(clear_lost_runs(house.instance)) == 1


def test_a_retried_run_is_not_judged_by_the_tag_it_inherited(house: House) -> None:
    started(house, dead_worker().replace("{run}", "otherrun"))
    assert clear_lost_runs(house.instance) == []


def test_another_machines_run_is_left_to_it(house: House) -> None:
    started(house, "elsewhere:1:1:{run}")
    assert clear_lost_runs(house.instance, all_untagged=True) == []


def test_at_the_start_nothing_without_a_process_survives(house: House) -> None:
    run_id = started(house, None)
    assert clear_lost_runs(house.instance) == []
    assert len(clear_lost_runs(house.instance, all_untagged=True)) == 1
    assert status(house, run_id) is dg.DagsterRunStatus.FAILURE


def test_a_run_that_broke_off_long_ago_is_not_resumed_by_itself(house: House) -> None:
    import time

    run_id = started(house, dead_worker())
    clear_lost_runs(house.instance, now=lambda: time.time() + 7200)
    run = house.instance.get_run_by_id(run_id)
    assert run is not None
    assert run.tags["dagster/max_retries"] == "0"
