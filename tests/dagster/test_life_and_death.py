"""Terminate, kill -9 and resume with the real daemon, webserver and run workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl_assets.automation import start
from crawl_assets.automation.reconciliation import WORKER_TAG
from practice_site import RemoteSite, practice_site_process, site_yaml
from tests.dagster.operated import ROOT, Operated, operated, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    with operated(tmp_path_factory.mktemp("operated")) as house:
        yield house


@pytest.fixture
def shop(house: Operated) -> Iterator[RemoteSite]:
    """A shop of some 200 pages that is crawled at 20 pages a second: time enough to be interrupted."""
    with practice_site_process(n_products=150) as site:
        changes: dict[str, Any] = {"pace": {"rate": 20, "ramp_up": 0, "concurrency": 2}}
        (house.installation.sites / "shop.yaml").write_text(
            site_yaml(site.domain, name="shop", changes=changes)
        )
        if house.process is None:
            house.up()
        else:
            start.prepare(house.home, house.installation)
        yield site


def pages_seen(site: RemoteSite) -> Counter[str]:
    """How often the server saw each page."""
    return Counter(
        r["path"]
        for r in site.requests()
        if r["status"] == 200 and "robots" not in r["path"] and "sitemap" not in r["path"]
    )


def counts(house: Operated, domain: str) -> Any:
    frontier = house.installation.open_frontier()
    try:
        return frontier.counts(domain)
    finally:
        frontier.close()


def crawling(site: RemoteSite, least: int = 25) -> None:
    wait_for(lambda: len(site.requests()) > least)


def resumed(house: Operated, run_id: str) -> str:
    """The run that Dagster starts by itself in place of one whose process was lost."""
    parent = {"key": "dagster/parent_run_id", "value": run_id}
    return str(wait_for(lambda: next((r["runId"] for r in house.runs() if parent in r["tags"]), None)))


def test_terminate_ends_within_seconds_and_a_new_run_goes_on(house: Operated, shop: RemoteSite) -> None:
    run = house.launch("night", shop.domain)
    crawling(shop)
    asked = time.monotonic()
    house.terminate(run)
    assert house.ended(run, 30) == "CANCELED"
    assert time.monotonic() - asked < 20
    left = counts(house, shop.domain)
    assert left.leased == 0
    assert left.pending > 0
    before = pages_seen(shop)
    assert house.ended(house.launch("night", shop.domain)) == "SUCCESS"
    after = pages_seen(shop)
    canary = {"/"}
    assert {p for p, n in after.items() if n > 1} <= canary
    assert len(after) > len(before)
    assert counts(house, shop.domain).pending == 0


def test_a_killed_run_worker_is_resumed_without_losing_a_page(house: Operated, shop: RemoteSite) -> None:
    run = house.launch("night", shop.domain)
    crawling(shop)
    worker = wait_for(lambda: house.tags(run).get(WORKER_TAG))
    os.kill(int(worker.split(":")[-3]), signal.SIGKILL)
    assert house.ended(run, 60) == "FAILURE"
    assert house.ended(resumed(house, run)) == "SUCCESS"
    seen = pages_seen(shop)
    assert set(seen) >= {p.removeprefix(shop.origin) for p in shop.expected_pages()}
    assert sum(n - 1 for p, n in seen.items() if n > 1 and p != "/") <= 16


def test_after_the_power_was_cut_the_next_night_is_normal(house: Operated, shop: RemoteSite) -> None:
    run = house.launch("night", shop.domain)
    crawling(shop)
    worker = int(wait_for(lambda: house.tags(run).get(WORKER_TAG)).split(":")[-3])
    house.kill()
    try:
        os.kill(worker, signal.SIGKILL)
    except ProcessLookupError:
        pass
    house.up()
    assert house.ended(run, 60) == "FAILURE"
    assert house.ended(resumed(house, run)) == "SUCCESS"
    assert house.ended(house.launch("night", shop.domain)) == "SUCCESS"
    seen = pages_seen(shop)
    assert set(seen) >= {p.removeprefix(shop.origin) for p in shop.expected_pages()}


#: What `dagster dev` keeps: webserver, daemon, and the code server with its supervisor. Run workers are not among them.
SERVICES = ("dagster._daemon", "dagster_webserver", "code-server", "api grpc", "dagster dev")


def _kill_9(house: Operated, *parts: str) -> int:
    """kill -9 of processes of the group that this test started, by words of their command lines; how many."""
    assert house.process is not None
    killed = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if os.getpgid(int(folder.name)) == house.process.pid and any(part in words for part in parts):
                os.kill(int(folder.name), signal.SIGKILL)
                killed += 1
        except OSError:
            continue  # it ended while it was looked at
    return killed


def _ends_well(house: Operated, shop: RemoteSite, run: str) -> None:
    """The run, or the one that resumed it, and the next night: everything fetched, hardly anything twice."""
    ended = house.ended(run, 180)
    if ended == "FAILURE":
        assert house.ended(resumed(house, run)) == "SUCCESS"
    assert house.ended(house.launch("night", shop.domain)) == "SUCCESS"
    seen = pages_seen(shop)
    assert set(seen) >= {p.removeprefix(shop.origin) for p in shop.expected_pages()}
    assert sum(n - 1 for p, n in seen.items() if n > 1 and p != "/") <= 16
    left = counts(house, shop.domain)
    assert left.leased == left.pending == 0


@pytest.mark.parametrize("part", ["dagster._daemon", "dagster_webserver", "api grpc"])
def test_after_kill_9_of_one_process_nobody_crawls_twice_and_the_next_night_is_normal(
    house: Operated, shop: RemoteSite, part: str
) -> None:
    """Daemon, webserver, code server: all are started again, as a supervisor does, while the run worker lives on."""
    run = house.launch("night", shop.domain)
    crawling(shop)
    assert _kill_9(house, part), f"no process {part}"
    assert house.process is not None
    _kill_9(house, *SERVICES)
    house.process.wait()
    house.process = None
    house.up()
    _ends_well(house, shop, run)


def test_a_deploy_in_the_middle_of_a_night_loses_nothing(house: Operated, shop: RemoteSite) -> None:
    """SIGTERM ends the services; whether the run worker goes on or is resumed, the night is whole."""
    run = house.launch("night", shop.domain)
    crawling(shop)
    assert house.process is not None
    house.process.send_signal(signal.SIGTERM)
    house.process.wait(90)
    house.process = None
    house.up()
    _ends_well(house, shop, run)


def test_a_first_start_by_two_processes_at_once_leaves_an_instance_that_works(tmp_path: Path) -> None:
    """Two processes that open a fresh instance break its database: the start command is there to go first."""
    with operated(tmp_path) as house:
        code = (
            "import sys; from pathlib import Path; from crawl_assets.automation.start import prepare; "
            "from resources.installation import Installation; "
            "prepare(Path(sys.argv[1]), Installation.at(Path(sys.argv[2]), Path(sys.argv[3])))"
        )
        places = [str(house.home), str(house.installation.data), str(house.installation.sites)]
        both = [subprocess.Popen([sys.executable, "-c", code, *places], cwd=ROOT) for _ in range(2)]
        assert [p.wait(120) for p in both] == [0, 0]
        house.up()
        assert house.runs() == []
