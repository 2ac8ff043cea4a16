"""Runs a stage's event loop so that it can be asked to stop: Terminate, SIGTERM, a run that is no longer wanted.

Dagster's own interruption would cancel the loop in the middle of a page. Here both signals only set `stop`;
in-flight pages end, everything is written, and then the run says that it was interrupted. A second signal does
what Dagster does: the handlers are given back as soon as the loop has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, TypeVar

import dagster as dg

__all__ = ["run_stoppable", "still_wanted", "stop_here", "until_stopped"]

T = TypeVar("T")

#: How often the run asks whether it is still wanted. One look costs 3 ms; a forced Terminate in the UI or a lost
#: code server reaches the process no other way.
WANTED_EVERY_S = 10.0

#: The runs of this process that can be stopped: how, by run id.
_running: dict[str, Callable[[], None]] = {}


def run_stoppable(main: Callable[[asyncio.Event], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
    """Run `main(stop)` to its end in a new event loop; (result, whether it was asked to stop)."""

    async def guarded() -> tuple[T, bool]:
        stop = asyncio.Event()
        with _signals_to(stop):
            return await main(stop), stop.is_set()

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(guarded())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # not on Windows
        return None
    return uvloop.new_event_loop


@contextlib.contextmanager
def _signals_to(stop: asyncio.Event) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may have handlers; the poll of the run's status still works
        return
    loop = asyncio.get_running_loop()
    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


async def still_wanted(
    instance: dg.DagsterInstance,
    run_id: str,
    stop: asyncio.Event,
    ask: Callable[[Callable[[], bool]], Awaitable[bool]],
) -> None:
    """Set `stop` once the run is being canceled or has been ended behind our back. `ask` runs a blocking call."""

    def unwanted() -> bool:
        run = instance.get_run_by_id(run_id)
        return run is None or run.is_finished or run.status is dg.DagsterRunStatus.CANCELING

    loop = asyncio.get_running_loop()

    def stop_now() -> None:
        with contextlib.suppress(RuntimeError):  # its loop has just been closed
            loop.call_soon_threadsafe(stop.set)

    _running[run_id] = stop_now
    try:
        # The first look is now: what was asked for while the run was starting reached nobody.
        while not stop.is_set():
            if await ask(unwanted):
                stop.set()
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), WANTED_EVERY_S)
    finally:
        _running.pop(run_id, None)


def stop_here(run_id: str) -> bool:
    """Stop a run of this very process at once, from any thread; False: it does not run here (any more, or yet).

    The command line runs nights in a thread, which gets no signals.
    """
    stop = _running.get(run_id)
    if stop is None:
        return False
    stop()
    return True


async def until_stopped(work: Coroutine[Any, Any, T], stop: asyncio.Event) -> T | None:
    """The result of `work`, or None when `stop` came first: then it is cancelled and awaited."""
    task = asyncio.ensure_future(work)
    waiting = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return None
    finally:
        waiting.cancel()
