"""Whether a process of this machine still lives: what leases and Dagster runs of dead processes are judged by."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

from resources.frontier.base import DomainLease, Frontier

__all__ = ["owner_is_gone", "process_start", "take_domain", "worker_name"]


def worker_name() -> str:
    """`host:pid:start in milliseconds`: unique per process and call, and tells whose process it was."""
    return f"{socket.gethostname()}:{os.getpid()}:{int(time.time() * 1000)}"


def process_start(pid: int) -> str | None:
    """When the process started, as a word to compare; None when there is none. It tells a pid that is used again.

    A process that ended and was not waited for yet (a zombie) counts as gone. Where there is no /proc, every living
    process started at the same word.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None if Path("/proc/self/stat").exists() else _without_proc(pid)
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else fields[19]


def _without_proc(pid: int) -> str | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return "running"
    return "running"


def owner_is_gone(worker: str) -> bool:
    """Whether a worker (`host:pid:…`, see `worker_name`) was of this machine and its process has ended."""
    parts = worker.rsplit(":", 2)
    if len(parts) != 3 or parts[0] != socket.gethostname() or not parts[1].isdigit():
        return False
    return process_start(int(parts[1])) is None


def take_domain(frontier: Frontier, domain: str, worker: str, ttl_s: float, now: float) -> DomainLease | str:
    """The lease on a domain, or the words why not.

    A holder of this machine whose process has ended is not waited for: its URLs go back to pending and its lease
    is handed on with a new fence.
    """
    lease = frontier.lease_domain(domain, worker, ttl_s, now)
    if lease is not None:
        return lease
    holder = frontier.domain_lease(domain, now)
    if holder is not None and owner_is_gone(holder.owner):
        frontier.release_worker(holder.owner, now)
        frontier.unlease_domain(holder)
        lease = frontier.lease_domain(domain, worker, ttl_s, now)
    if lease is not None:
        return lease
    return f"{holder.owner if holder else 'another worker'} crawls this domain"
