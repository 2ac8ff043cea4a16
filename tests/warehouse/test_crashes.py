"""kill -9 between any two steps: repeated, everything ends as if nothing had happened."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from resources.frontier.base import Ack, FetchLogRow, State, Verdict
from resources.warehouse.publish import publish
from resources.warehouse.read import table_counts
from tests.frontier.samples import url
from tests.warehouse.shop import DOMAIN, Shop, lamp_page

#: Runs a step and dies at a named point of it: just before or just after the given function is called.
DYING = """
import os, signal, sys
from importlib import import_module
from pathlib import Path
from resources.installation import Installation
data, sites, step, module, name, when = sys.argv[1:]
owner = import_module(module)
*path, last = name.split(".")
for part in path:
    owner = getattr(owner, part)
real = getattr(owner, last)
def dying(*args, **kwargs):
    if when == "after":
        real(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(owner, last, dying)
installation = Installation.at(Path(data), Path(sites))
if step == "parse":
    from resources.warehouse.parse import parse_domain
    parse_domain(installation, "shop.example", run_id="r2", processes=1)
elif step == "load":
    from resources.warehouse.load import load_domains
    load_domains(installation, ["shop.example"], run_id="r2")
else:
    from resources.warehouse.publish import publish
    publish(installation)
"""

LOAD = "resources.warehouse.load.load"
FRONTIER = "resources.warehouse.load.frontier_rows"
#: The points of the second list are like their neighbours in the first and run with the slow tests.
POINTS = [
    ("load", "resources.frontier.sqlite.frontier", "SqliteFrontier.trim_log", "before"),
    ("load", LOAD, "apply_batch", "after"),
    ("publish", "resources.warehouse.publish.publish", "_sync", "before"),
]
MORE_POINTS = [
    ("load", LOAD, "_write_index", "before"),
    ("parse", "resources.warehouse.parse.domain", "write_manifest", "before"),
    ("parse", "resources.warehouse.parse.domain", "write_manifest", "after"),
    ("load", FRONTIER, "_log_table", "after"),
    ("load", LOAD, "apply_batch", "before"),
    ("load", LOAD, "_write_index", "after"),
    ("load", LOAD, "Batch.remove", "after"),
    ("load", LOAD, "snapshot_domain", "after"),
]


def second_night(shop: Shop) -> None:
    """A first night done and published; a second one in the page store and the frontier."""
    for number in range(4):
        shop.put(f"/lamp/{number}", lamp_page(f"L{number}"))
    shop.night("r1")
    publish(shop.installation)
    shop.put("/lamp/1", lamp_page("L1", "£6.00"))
    shop.put("/lamp/9", lamp_page("L9"))
    shop.state("/lamp/0", State.FAILED, cause="http_404")
    frontier = shop.installation.open_frontier()
    frontier.enqueue([url("a"), url("b")], 1.0)
    for claim in frontier.claim(DOMAIN, 2, "w", 60, 1.0):
        row = FetchLogRow(claim.url, DOMAIN, "r2", "w", 1, 5.0, 2.5, 7.0, 200, "ok")
        frontier.commit([Ack(claim, Verdict.DONE, 6.0, log=row)], 6.0)
    frontier.close()


def die(shop: Shop, step: str, module: str, name: str, when: str) -> None:
    place = shop.installation
    ended = subprocess.run(
        [sys.executable, "-c", DYING, str(place.data), str(place.sites), step, module, name, when],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.parametrize(
    ("step", "module", "name", "when"),
    [*POINTS, *(pytest.param(*point, marks=pytest.mark.slow) for point in MORE_POINTS)],
)
def test_repeated_after_a_kill_the_tables_are_right(
    shop: Shop, step: str, module: str, name: str, when: str
) -> None:
    second_night(shop)
    if step != "parse":
        shop.parse("r2")
    if step == "publish":
        shop.load("r2")
    die(shop, step, module, name, when)
    assert table_counts(shop.installation)["lamp"] == 4  # readers still have last night, whole

    shop.parse("r2")
    shop.load("r2")
    shop.load("r2")
    publish(shop.installation)
    assert shop.rows("SELECT sku, price FROM lamp ORDER BY 1") == [
        ("L1", 6), ("L2", 5), ("L3", 5), ("L9", 5),
    ]  # fmt: skip
    assert shop.rows("SELECT count(*), count(DISTINCT url) FROM pages") == [(4, 4)]
    assert shop.rows("SELECT count(*), count(DISTINCT (from_url, to_url)) FROM links") == [(7, 7)]
    assert shop.rows("SELECT count(*), count(DISTINCT url) FROM fetch_log") == [(2, 2)]
    assert shop.rows("SELECT url, reason FROM gone_pages") == [(f"https://{DOMAIN}/lamp/0", "http_404")]
    assert not list((shop.installation.tables / "staging").glob("*/*"))
    assert table_counts(shop.installation)["lamp"] == 4
