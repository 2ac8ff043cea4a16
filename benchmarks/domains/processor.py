"""CPU time of a house's processes, from /proc: of its webserver while a page is looked at, of all of them while idle."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

__all__ = ["Idle", "Process", "cpu_s", "idle", "webserver"]

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """`core`: share of one core; `bytes`: memory, with its part of what it shares with others (PSS)."""

    name: str
    core: float
    bytes: int


@dataclass(frozen=True, slots=True)
class Idle:
    """All processes, the busiest first, and their sums."""

    processes: tuple[Process, ...]

    @property
    def core(self) -> float:
        return sum(p.core for p in self.processes)

    @property
    def bytes(self) -> int:
        return sum(p.bytes for p in self.processes)


def cpu_s(pid: int, *, ended_children: bool = False) -> float:
    """Seconds of CPU a process has used; 0 when it has gone."""
    with suppress(OSError):
        return sum(int(n) for n in _fields(pid)[11 : 15 if ended_children else 13]) * _TICK_S
    return 0.0


def webserver(session: int) -> int:
    """The process that serves the UI."""
    return next(pid for pid in _members(session) if "webserver" in _words(pid))


def idle(session: int, seconds: float) -> Idle:
    """Look at all processes of a session for so long. Processes that begin and end meanwhile count as their parent's."""
    before = {pid: cpu_s(pid, ended_children=True) for pid in _members(session)}
    time.sleep(seconds)
    after = {pid: cpu_s(pid, ended_children=True) for pid in _members(session)}
    found = (
        Process(_name(pid), (spent - before.get(pid, 0.0)) / seconds, _memory(pid))
        for pid, spent in after.items()
    )
    return Idle(tuple(sorted(found, key=lambda p: -p.core)))


def _members(session: int) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        with suppress(ValueError, OSError):
            pid = int(folder.name)
            if int(_fields(pid)[3]) == session:
                yield pid


def _fields(pid: int) -> list[str]:
    """proc(5): the fields of `stat` after the name, which may have blanks in it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _words(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


def _name(pid: int) -> str:
    words = _words(pid)
    known = ("webserver", "_daemon", "api grpc", "code-server", "dagster dev")
    return next((name for name in known if name in words), words[:40])


def _memory(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
