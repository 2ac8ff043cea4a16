"""kill -9 between any two steps: repeated, everything ends as if nothing had happened."""

from __future__ import annotations

import pytest

from resources.warehouse.publish import publish
from resources.warehouse.read import table_counts
from tests.warehouse.dying import die, second_night
from tests.warehouse.shop import DOMAIN, Shop

LOAD = "resources.warehouse.load.load"
FRONTIER = "resources.warehouse.load.frontier_rows"
#: The points of the second list are like their neighbours in the first and run with the slow tests.
POINTS = [
    ("load", "resources.frontier.sqlite.frontier", "SqliteFrontier.trim_log", "before"),
    ("load", LOAD, "apply_batch", "after"),
    ("publish", "resources.warehouse.storage.folder", "to_disk", "before"),
]
MORE_POINTS = [
    ("load", LOAD, "_write_index", "before"),
    ("parse", "resources.warehouse.storage.folder", "write_manifest", "before"),
    ("parse", "resources.warehouse.storage.folder", "write_manifest", "after"),
    ("load", FRONTIER, "_log_table", "after"),
    ("load", LOAD, "apply_batch", "before"),
    ("load", LOAD, "_write_index", "after"),
    ("load", LOAD, "Batch.remove", "after"),
    ("load", LOAD, "snapshot_domain", "after"),
]


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
    assert not list((shop.installation.tables_folder / "staging").glob("*/*"))
    assert table_counts(shop.installation)["lamp"] == 4
