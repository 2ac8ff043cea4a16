"""Dagster's Celery engine, whole: a broker, a database, daemon and UI, two worker processes, one of them killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.dagster.operated import ROOT, Operated, wait_for
from tests.deploy.brokers import postgres, rabbitmq
from tests.deploy.files import COMPOSE
from tests.deploy.fleet import Fleet, fleet
from tests.fleet.servers import free_port

DOMAINS = 8


class Machine:
    """A worker as on a machine of its own: its processes can only be lost together."""

    def __init__(self, name: str, folder: Path) -> None:
        self._log = (folder / f"{name}.log").open("ab")
        words = [sys.executable, "-m", "celery", "-A", "resources.launcher.app", "worker"]
        self.process = subprocess.Popen(
            [*words, "-Q", "crawl", "--concurrency", "1", "-n", f"{name}@%h", "--loglevel", "info"],
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            cwd=folder,
            env=os.environ | {"C_FORCE_ROOT": "1", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
        )

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def lose(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def engine(folder: Path, monkeypatch: pytest.MonkeyPatch, broker: str) -> Iterator[tuple[Fleet, Operated]]:
    """The shipped instance file over real servers; only its paths and two waits are the test's."""
    with ExitStack() as stack:
        house = stack.enter_context(fleet(folder, sites=DOMAINS, books=60, rate=8, ramp_up=0))
        database = stack.enter_context(postgres())
        address = stack.enter_context(rabbitmq()) if broker == "rabbitmq" else house.redis.address[:-1] + "1"
        home = folder / "home"
        home.mkdir()
        text = (
            (COMPOSE / "dagster.yaml").read_text().replace("/data/dagster", str(folder / "data" / "dagster"))
        )
        text = text.replace("poll_interval_seconds: 10", "poll_interval_seconds: 2")
        (home / "dagster.yaml").write_text(text)
        shutil.copy(ROOT / "workspace.yaml", home / "workspace.yaml")
        for name, value in house.environment.items():
            if name.startswith("NIGHTCRAWL_"):
                monkeypatch.setenv(name, value)
        monkeypatch.setenv("DAGSTER_HOME", str(home))
        monkeypatch.setenv("NIGHTCRAWL_BROKER", address)
        monkeypatch.setenv("NIGHTCRAWL_HEARTBEAT", house.redis.address[:-1] + "2")
        monkeypatch.setenv("NIGHTCRAWL_DAGSTER_POSTGRES", database)
        operator = Operated(home, house.installation, free_port(), log=folder / "dagster.log")
        stack.callback(operator.down)
        operator.up()
        yield house, operator


def working(operator: Operated) -> list[str]:
    return [run["runId"] for run in operator.runs() if run["status"] == "STARTED"]


@pytest.mark.slow
@pytest.mark.parametrize("broker", ["redis", "rabbitmq"])
def test_a_lost_worker_costs_time_and_nothing_else(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine(tmp_path, monkeypatch, broker) as (house, operator), ExitStack() as stack:
        machines = [Machine(name, tmp_path) for name in ("one", "two")]
        for machine in machines:
            stack.callback(machine.lose)
        # One backfill's worth of runs: two domains each.
        launched = [
            operator.launch("fetch", house.domains[at], house.domains[at + 1]) for at in range(0, DOMAINS, 2)
        ]
        wait_for(lambda: len(working(operator)) == 2 and house.fetched() > 20, 120.0)
        machines[0].lose()
        lost_at = time.monotonic()

        def all_over() -> bool:
            runs = operator.runs()
            done = [r for r in runs if r["status"] in ("SUCCESS", "FAILURE", "CANCELED")]
            return len(done) == len(runs) == DOMAINS // 2 + 1

        wait_for(all_over, 240.0, 1.0)
        statuses = {run["runId"]: run["status"] for run in operator.runs()}
        lost = [run for run in launched if statuses[run] == "FAILURE"]
        assert len(lost) == 1 and list(statuses.values()).count("SUCCESS") == DOMAINS // 2
        (retried,) = (run for run in operator.runs() if run["runId"] not in launched)
        assert {t["key"]: t["value"] for t in retried["tags"]}["dagster/parent_run_id"] == lost[0]
        house.check_whole()
        # In flight and not yet written at the kill: at most a few seconds of two domains.
        assert house.asked_twice() <= 2 * 8 * 5 + 64, house.asked_twice()
        print(f"{broker}: over {time.monotonic() - lost_at:.0f} s after the loss")


@pytest.mark.slow
def test_terminate_drains_and_a_stopped_worker_hands_its_run_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine(tmp_path, monkeypatch, "redis") as (house, operator), ExitStack() as stack:
        machines = [Machine("one", tmp_path)]
        stack.callback(machines[0].lose)
        first = operator.launch("fetch", house.domains[0], house.domains[1])
        wait_for(lambda: operator.status(first) == "STARTED" and house.fetched() > 5, 120.0)
        operator.terminate(first)
        assert operator.ended(first, 45.0) == "CANCELED"
        assert sum(counts.leased for counts in house.counts().values()) == 0
        kept = house.fetched()

        second = operator.launch("fetch", house.domains[0], house.domains[1])
        wait_for(lambda: operator.status(second) == "STARTED" and house.fetched() > kept + 5, 60.0)
        machines.append(Machine("two", tmp_path))
        stack.callback(machines[1].lose)
        machines[0].signal(signal.SIGTERM)
        assert operator.ended(second, 45.0) == "FAILURE"
        assert machines[0].process.wait(60) == 0, "it waits for its run to drain, then ends well"
        (third,) = wait_for(lambda: [r for r in operator.runs() if r["runId"] not in (first, second)], 60.0)
        assert operator.ended(third["runId"], 120.0) == "SUCCESS"
        for domain in house.domains[:2]:
            counts = house.counts()[domain]
            assert (counts.pending, counts.leased, counts.failed) == (0, 0, 0)
