"""What has to happen before Dagster's processes start: `make ui` and `nightcrawl ui` call `prepare`.

1. The instance is opened by one process at a time, under a lock of the kernel: two that open a fresh one at once break
   its database.
2. Pool limits are set: `dagster.yaml` has no place for them.
3. Runs whose process died with the machine are reported ended and their pool slots freed.
4. The domains of the site files become partitions, so that the first look at the UI is not empty.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from crawl_assets.automation.reconciliation import Cleared, clear_lost_runs
from crawl_assets.partitions import PartitionChange, sync_partitions
from crawl_assets.stages.pipeline import POOL
from resources.installation import Installation

__all__ = ["Prepared", "command", "environment", "prepare", "serve"]

#: Crawl runs at once: 2,000 domains. This is about memory and cores, not about politeness.
CRAWL_RUNS = 8
#: A daemon that was heard of this recently may be alive: then nothing untagged is taken for lost.
DAEMON_ALIVE_S = 45.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare` did."""

    cleared: tuple[Cleared, ...]
    partitions: PartitionChange


def prepare(home: Path, installation: Installation, crawl_runs: int = CRAWL_RUNS) -> Prepared:
    """Make the instance of `home` ready (see the module docstring). Safe to run again, and while Dagster runs.

    `crawl_runs`: how many runs may crawl at once, over all machines.
    """
    if not (home / "dagster.yaml").is_file():
        raise FileNotFoundError(
            f"{home}/dagster.yaml is missing: run this in the project's folder or set DAGSTER_HOME to it"
        )
    installation.prepare()
    # Paths in dagster.yaml are relative to the folder Dagster runs in.
    with _alone(installation), contextlib.chdir(home), dg.DagsterInstance.from_config(str(home)) as instance:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            instance.upgrade()  # its storage prints what it looks at
        if instance.event_log_storage.supports_global_concurrency_limits:
            instance.event_log_storage.set_concurrency_slots(POOL, crawl_runs)
        cleared = clear_lost_runs(instance, all_untagged=not _daemon_alive(instance))
        return Prepared(tuple(cleared), sync_partitions(instance, installation))


@contextlib.contextmanager
def _alone(installation: Installation) -> Iterator[None]:
    """Wait until no other process of this machine prepares. The kernel gives the lock back when a process ends."""
    with (installation.data / "prepare.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _daemon_alive(instance: dg.DagsterInstance) -> bool:
    now = time.time()
    return any(now - beat.timestamp < DAEMON_ALIVE_S for beat in instance.get_daemon_heartbeats().values())


def environment(home: Path, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of Dagster's processes."""
    env = dict(os.environ if base is None else base)
    env["DAGSTER_HOME"] = str(home)
    # Off in dagster.yaml too; the variable also keeps its empty queue folder out of the project.
    env["DAGSTER_DISABLE_TELEMETRY"] = "1"
    # Each thread of glibc's malloc has a heap of its own, and keeps what it gave back: tens of megabytes a process.
    env.setdefault("MALLOC_ARENA_MAX", "2")
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", "")])
    return env


def command(host: str, port: int) -> list[str]:
    """The command that runs webserver, daemon and code server together."""
    beside = Path(sys.executable).parent / "dagster"
    dagster = str(beside) if beside.exists() else shutil.which("dagster") or "dagster"
    return [dagster, "dev", "--host", host, "--port", str(port), "--workspace", "workspace.yaml"]


def serve(home: Path, installation: Installation, host: str = "127.0.0.1", port: int = 3000) -> None:
    """Prepare, then become `dagster dev`: signals go straight to it. Does not return."""
    prepare(home, installation)
    os.chdir(home)
    words = command(host, port)
    os.execvpe(words[0], words, environment(home))
