"""A run that is stopped hears of it at once, whatever it is doing and wherever it was asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import dagster as dg
import pytest

from crawl_assets.stages import stoppable
from crawl_assets.stages.stoppable import run_stoppable, still_wanted, stop_here


@pytest.fixture
def instance(monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    # So long that a run which waited for the next look would not end within the test.
    monkeypatch.setattr(stoppable, "WANTED_EVERY_S", 3_600.0)
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def a_run(instance: dg.DagsterInstance) -> dg.DagsterRun:
    @dg.job
    def some() -> None: ...

    return instance.create_run_for_job(some, status=dg.DagsterRunStatus.STARTED)


async def ask(call: Callable[[], bool]) -> bool:
    return call()


def stopped(instance: dg.DagsterInstance, run_id: str, under_way: Callable[[], None]) -> bool:
    """Run in a thread, which gets no signals, as the command line does."""

    async def main(stop: asyncio.Event) -> None:
        looking = asyncio.create_task(still_wanted(instance, run_id, stop, ask))
        await asyncio.sleep(0.05)
        under_way()
        await asyncio.wait_for(stop.wait(), 60)
        await looking

    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(run_stoppable(main)[1]))
    thread.start()
    thread.join(120)
    return found == [True]


def test_a_run_of_this_process_is_stopped_at_once(instance: dg.DagsterInstance) -> None:
    run = a_run(instance)
    assert not stop_here(run.run_id), "it does not run yet"
    asked: list[bool] = []
    assert stopped(instance, run.run_id, lambda: asked.append(stop_here(run.run_id)))
    assert asked == [True]
    assert not stop_here(run.run_id), "it has ended"


def test_what_was_asked_while_the_run_was_starting_is_seen_at_once(instance: dg.DagsterInstance) -> None:
    run = a_run(instance)
    instance.report_run_canceling(run)
    assert stopped(instance, run.run_id, lambda: None)
