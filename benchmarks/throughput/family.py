"""CPU of a process and of its children while they run (Linux: /proc), which `getrusage` tells only after their end."""

from __future__ import annotations

import os
import resource
from pathlib import Path

__all__ = ["cpu_of", "cpu_of_family"]


def cpu_of(pid: int | str) -> float:
    """CPU seconds of a running process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_family() -> float:
    """CPU seconds of this process and its children, those that have ended and those that run."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return cpu_of("self") + ended.ru_utime + ended.ru_stime + sum(map(cpu_of, running))
