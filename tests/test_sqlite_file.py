"""SQLite files of ours: what holds for the frontier's, the page store's and the ledger's alike."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from resources.frontier.sqlite.frontier import SqliteFrontier
from resources.pacing.ledger.sqlite import SqliteLedger
from resources.pages.sqlite.store import SqlitePages
from resources.sqlite_file import use_wal

#: Files made at once by so many processes, and how many times: without waiting, some process fails in nearly every one.
PROCESSES, TIMES = 4, 12


def _open_all(opener: Callable[[Path], object], folder: Path, together: Barrier) -> None:
    for number in range(TIMES):
        together.wait(60)
        opener(folder / f"{number}.sqlite")


@pytest.mark.parametrize("opener", [SqliteFrontier, SqlitePages, SqliteLedger])
def test_processes_that_start_at_once_all_open_a_file_that_is_not_there_yet(
    opener: Callable[[Path], object], tmp_path: Path
) -> None:
    context = multiprocessing.get_context("fork")
    together = context.Barrier(PROCESSES)
    processes = [
        context.Process(target=_open_all, args=(opener, tmp_path, together)) for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * PROCESSES


def test_a_file_that_stays_locked_is_told_after_the_time_given(tmp_path: Path) -> None:
    path = tmp_path / "busy.sqlite"
    with sqlite3.connect(path, isolation_level=None) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        waiting = sqlite3.connect(path, timeout=0)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            use_wal(waiting, 0.05)
        waiting.close()
