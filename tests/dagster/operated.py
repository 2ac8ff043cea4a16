"""Real Dagster processes (`dagster dev`: webserver, daemon, code server) over a house of a test's own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx

from crawl_assets.automation import start
from crawl_assets.automation.canary_rounds import ROUND_TAG
from resources.installation import Installation

__all__ = ["ROOT", "Operated", "operated", "wait_for"]

ROOT = Path(__file__).resolve().parents[2]
T = TypeVar("T")

LAUNCH = """
mutation($p: ExecutionParams!) { launchRun(executionParams: $p) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
  ... on RunConfigValidationInvalid { errors { message } } ... on InvalidSubsetError { message }
} }"""
BACKFILL = """
mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message }
} }"""
TERMINATE = """
mutation($id: String!) { terminateRun(runId: $id) {
  __typename ... on TerminateRunFailure { message } ... on PythonError { message }
} }"""
STATUS = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status tags { key value } } } }"
KEYS = (
    "query($asset: AssetKeyInput!) { assetNodeOrError(assetKey: $asset) { ... on AssetNode "
    "{ partitionKeysByDimension { partitionKeys } } } }"
)
RUNS = (
    "query { runsOrError(limit: 50) { ... on Runs { results { runId status jobName tags { key value } } } } }"
)


def wait_for(ask: Callable[[], T | None], seconds: float = 90.0, every: float = 0.25) -> T:
    """What `ask` gives as soon as it is not None or False. AssertionError when the time is up."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = ask()
        if found:
            return found
        time.sleep(every)
    raise AssertionError(f"nothing came of {ask} in {seconds:g} s")


@dataclass
class Operated:
    """A running installation as its operator sees it."""

    home: Path
    installation: Installation
    port: int
    process: subprocess.Popen[bytes] | None = None
    log: Path = field(default_factory=Path)

    # -- processes ---------------------------------------------------------------------------------
    def up(self) -> None:
        """Prepare and start `dagster dev`; returns when the UI answers and the code is loaded."""
        start.prepare(self.home, self.installation)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                start.command("127.0.0.1", self.port),
                cwd=self.home,
                env=start.environment(self.home)
                | {
                    "NIGHTCRAWL_DATA": str(self.installation.data),
                    "NIGHTCRAWL_SITES": str(self.installation.sites),
                    "PYTHONPATH": str(ROOT),
                    "PYTHONWARNINGS": "ignore",
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        wait_for(self._answers, 120.0)

    def _answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None, self.log.read_text()[-3000:]
        with suppress(httpx.TransportError):
            found = self.ask(
                "query { workspaceOrError { ... on Workspace { locationEntries { loadStatus } } } }"
            )
            entries = found["workspaceOrError"].get("locationEntries") or []
            return bool(entries) and all(e["loadStatus"] == "LOADED" for e in entries)
        return False

    def down(self) -> None:
        """End it as Ctrl-C does; what is left after a while is killed, by the group this class started."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.kill()

    def kill(self) -> None:
        """kill -9 of every process of this installation at once: the power is cut."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    # -- the operator --------------------------------------------------------------------------------
    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        answer = httpx.post(
            f"http://127.0.0.1:{self.port}/graphql",
            json={"query": query, "variables": variables},
            timeout=120.0,  # a loaded machine; what has to be quick is measured elsewhere
        ).json()
        assert "errors" not in answer, answer
        data: dict[str, Any] = answer["data"]
        return data

    def launch(
        self,
        job: str,
        first: str = "",
        last: str = "",
        config: dict[str, Any] | None = None,
        more_tags: dict[str, str] | None = None,
    ) -> str:
        """Start a job over a range of domains, or one that has none; the run's id."""
        tags = dict(more_tags or {})
        if first:
            tags["dagster/asset_partition_range_start"] = first
            tags["dagster/asset_partition_range_end"] = last or first
        params = {
            "selector": {
                "repositoryLocationName": "nightcrawl",
                "repositoryName": "__repository__",
                "jobName": job,
            },
            "runConfigData": {"ops": {"stages": {"config": config or {}}}} if first else {},
            "executionMetadata": {"tags": [{"key": k, "value": v} for k, v in tags.items()]},
        }
        found = self.ask(LAUNCH, p=params)["launchRun"]
        assert found["__typename"] == "LaunchRunSuccess", found
        return str(found["run"]["runId"])

    def backfill(self, assets: Sequence[str], keys: Sequence[str]) -> str:
        params = {"assetSelection": [{"path": [a]} for a in assets], "partitionNames": list(keys)}
        found = self.ask(BACKFILL, p=params)["launchPartitionBackfill"]
        assert found["__typename"] == "LaunchBackfillSuccess", found
        return str(found["backfillId"])

    def terminate(self, run_id: str) -> None:
        found = self.ask(TERMINATE, id=run_id)["terminateRun"]
        assert found["__typename"] == "TerminateRunSuccess", found

    def status(self, run_id: str) -> str:
        return str(self.ask(STATUS, id=run_id)["runOrError"]["status"])

    def tags(self, run_id: str) -> dict[str, str]:
        return {t["key"]: t["value"] for t in self.ask(STATUS, id=run_id)["runOrError"]["tags"]}

    def runs(self) -> list[dict[str, Any]]:
        """The runs, without rounds of canaries: those come every quarter of an hour, whatever a test does."""
        found: list[dict[str, Any]] = self.ask(RUNS)["runsOrError"]["results"]
        return [run for run in found if {"key": ROUND_TAG, "value": "round"} not in run["tags"]]

    def partitions_of(self, asset: str) -> list[str]:
        """The partition keys of an asset, in their order: what ranges go by."""
        node = self.ask(KEYS, asset={"path": [asset]})["assetNodeOrError"]
        return list(node["partitionKeysByDimension"][0]["partitionKeys"])

    def ended(self, run_id: str, seconds: float = 120.0) -> str:
        """The status with which the run ends."""

        def done() -> str | None:
            status = self.status(run_id)
            return status if status in ("SUCCESS", "FAILURE", "CANCELED") else None

        return wait_for(done, seconds)


@contextmanager
def operated(folder: Path) -> Iterator[Operated]:
    """A house with its own Dagster home; not started yet. Everything is ended when the block is left."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    for name in ("dagster.yaml", "workspace.yaml"):
        shutil.copy(ROOT / name, home / name)
    installation = Installation.at(home / "data", folder / "sites").prepare()
    installation.sites.mkdir(exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    house = Operated(home, installation, port, log=folder / "dagster.log")
    try:
        yield house
    finally:
        if house.process is not None:
            house.down()
