"""Total time limits: late tasks are stopped, others are left alone, and a cancellation from outside stays one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from resources.fetcher.deadlines import Deadline, Deadlines

LIMIT = 0.05


async def _within(deadlines: Deadlines, seconds: float, work: Callable[[], Awaitable[object]]) -> str:
    deadline = deadlines.begin(seconds)
    try:
        await work()
    except asyncio.CancelledError:
        if not deadline.passed():
            raise
        return "late"
    finally:
        deadline.end()
    return "done"


async def _forever() -> None:
    await asyncio.Event().wait()


async def test_what_takes_too_long_is_stopped_and_what_does_not_is_left_alone() -> None:
    deadlines = Deadlines()
    late, done = await asyncio.gather(
        _within(deadlines, LIMIT, _forever), _within(deadlines, LIMIT, lambda: asyncio.sleep(0))
    )
    assert (late, done) == ("late", "done")
    assert asyncio.current_task() is not None


async def test_each_has_its_whole_time_whoever_began_before_it() -> None:
    """The timer is set for the oldest; those that began later are stopped later."""
    deadlines, ended = Deadlines(), list[tuple[int, float]]()
    loop = asyncio.get_running_loop()

    async def one(number: int) -> None:
        begin = loop.time()
        assert await _within(deadlines, LIMIT, _forever) == "late"
        ended.append((number, loop.time() - begin))

    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(one(number))
            await asyncio.sleep(LIMIT / 3)
    assert [number for number, _ in ended] == [0, 1, 2, 3]
    assert all(took >= LIMIT for _, took in ended)


async def test_limits_of_different_length_do_not_wait_for_each_other() -> None:
    deadlines = Deadlines()
    long = asyncio.create_task(_within(deadlines, 3600.0, _forever))
    await asyncio.sleep(0)
    assert await _within(deadlines, LIMIT, _forever) == "late"
    assert not long.done()
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long


async def test_a_timer_that_finds_nobody_late_is_set_anew_for_who_comes_next() -> None:
    deadlines = Deadlines()
    assert await _within(deadlines, LIMIT, lambda: asyncio.sleep(0)) == "done"
    await asyncio.sleep(2 * LIMIT)
    assert await _within(deadlines, LIMIT, _forever) == "late"


async def test_a_cancellation_from_outside_is_no_timeout() -> None:
    deadlines = Deadlines()
    task = asyncio.create_task(_within(deadlines, 3600.0, _forever))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_one_from_outside_together_with_the_limit_wins() -> None:
    deadlines = Deadlines()
    found: list[Deadline] = []

    async def work() -> None:
        found.append(deadlines.begin(LIMIT))
        try:
            await _forever()
        except asyncio.CancelledError:
            if not found[0].passed():
                raise
        finally:
            found[0].end()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    # Both ask in one turn of the loop: the limit's request alone must not be taken for both.
    found[0].expired = True
    task.cancel()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_nothing_is_kept_of_what_has_ended() -> None:
    deadlines = Deadlines()
    for _ in range(100):
        await _within(deadlines, 3600.0, lambda: asyncio.sleep(0))
    assert [len(peers) for peers in deadlines._running.values()] == [0]


def test_another_loop_begins_anew() -> None:
    deadlines = Deadlines()
    for _ in range(2):
        assert asyncio.run(_within(deadlines, LIMIT, _forever)) == "late"
