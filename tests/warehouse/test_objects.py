"""Tables on a real S3 server: any machine parses, whoever has its turn loads, and a kill anywhere loses nothing."""

from __future__ import annotations

import json
import multiprocessing
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.object_store import bucket as bucket_module
from resources.object_store.bucket import Bucket
from resources.warehouse.connection import WarehouseBusy, WarehouseError
from resources.warehouse.load import load_domains
from resources.warehouse.publish import publish
from resources.warehouse.read import published, published_path, table_counts
from resources.warehouse.storage import head, staged
from tests.fleet.servers import S3Server, s3_place
from tests.warehouse.dying import die, second_night
from tests.warehouse.shop import DOMAIN, SITE, Shop, lamp_page

OTHER = "other.example"
OBJECTS = "resources.warehouse.storage.objects"
BUCKET = "resources.object_store.bucket"
LOAD = "resources.warehouse.load.load"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path / "a", s3_place(tmp_path))
    yield made
    made.close()


@pytest.fixture
def other(shop: Shop, tmp_path: Path) -> Iterator[Shop]:
    made = shop.machine(tmp_path / "b" / "data")
    yield made
    made.close()


@pytest.fixture
def bucket(shop: Shop) -> Iterator[Bucket]:
    made = Bucket(shop.installation.tables, WarehouseError)
    yield made
    made.close()


def test_one_machine_parses_a_second_loads_and_a_third_reads(shop: Shop, other: Shop, tmp_path: Path) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.put("/lamp/2", lamp_page("L2"))
    assert shop.parse("r1").parsed == 2
    other.load("r1")
    publish(other.installation)
    reader = shop.machine(tmp_path / "c" / "data")
    assert table_counts(reader.installation)["lamp"] == 2

    shop.put("/lamp/2", lamp_page("L2", "£6.00"))
    assert (report := other.parse("r2")).parsed == 1
    assert report.unchanged == 1
    shop.load("r2")  # its copy of the warehouse is of nothing yet
    publish(shop.installation)
    with published(reader.installation) as connection:
        assert connection.execute("SELECT sku, price FROM lamp ORDER BY 1").fetchall() == [
            ("L1", 5),
            ("L2", 6),
        ]
    assert not list(other.installation.tables_folder.glob("staging/*/*"))


def test_what_changes_nothing_uploads_nothing(shop: Shop, bucket: Bucket) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r1")
    before = bucket.names("warehouse")
    with shop.installation.open_tables().warehouse() as warehouse:
        warehouse.keep()
        assert bucket.names("warehouse") == before
        warehouse.connection.execute("CREATE TABLE more (i INTEGER)")
        warehouse.keep()
        assert bucket.names("warehouse") != before
    assert shop.rows("SELECT count(*) FROM more") == [(0,)]


def test_several_parse_at_once_while_somebody_has_the_warehouse(shop: Shop, other: Shop) -> None:
    shop.site("other", {**SITE, "domains": [OTHER]})
    shop.put("/lamp/1", lamp_page("L1"))
    shop.put("/lamp/7", lamp_page("L7"), OTHER)
    with other.installation.open_tables().warehouse():
        assert shop.parse("r1").parsed == 1
        assert other.parse("r1", OTHER).parsed == 1
    shop.load("r1", DOMAIN, OTHER)
    assert shop.rows("SELECT domain, sku FROM lamp ORDER BY 1") == [(OTHER, "L7"), (DOMAIN, "L1")]


def test_files_without_their_manifest_are_no_batch(
    shop: Shop, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r1")
    bucket.put("staging/shop.example/r2-torn/pages-000000.parquet", b"half")
    shop.load("r2")
    assert shop.rows("SELECT count(*) FROM pages") == [(1,)]
    assert [name for name, _ in bucket.names("staging")], "it may still be on its way"
    monkeypatch.setattr(staged, "ABANDONED_S", -1.0)
    shop.load("r3")
    assert bucket.names("staging") == []


def test_a_batch_that_lacks_a_file_is_an_error_and_not_fewer_rows(shop: Shop, bucket: Bucket) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.parse("r1")
    (links,) = [name for name, _ in bucket.names("staging") if "/links-" in name]
    bucket.delete([links])
    report = load_domains(shop.installation, [DOMAIN], run_id="r1")
    assert "links-" in report.failed[DOMAIN]
    assert shop.rows("SELECT count(*) FROM pages") == [(0,)]


def test_a_second_loader_waits_for_its_turn(shop: Shop, other: Shop) -> None:
    tables = other.installation.open_tables()
    with (
        shop.installation.open_tables().warehouse(),
        pytest.raises(WarehouseBusy, match="loader"),
        tables.warehouse(0.0),
    ):
        pass
    with tables.warehouse(0.0):
        pass  # handed on at once


def _counts_up(place: Shop, times: int) -> None:
    for _ in range(times):
        with place.installation.open_tables().warehouse() as warehouse:
            warehouse.connection.execute("CREATE TABLE IF NOT EXISTS loading.tally (n INTEGER)")
            warehouse.connection.execute("INSERT INTO loading.tally SELECT count(*) FROM loading.tally")
            warehouse.keep()


@pytest.mark.slow
def test_loaders_of_several_machines_never_overwrite_each_other(shop: Shop, tmp_path: Path) -> None:
    start = multiprocessing.get_context("spawn").Process
    each = [start(target=_counts_up, args=(shop.machine(tmp_path / f"m{n}"), 4)) for n in range(3)]
    for process in each:
        process.start()
    for process in each:
        process.join(120)
        assert process.exitcode == 0
    assert shop.rows("SELECT n FROM loading.tally ORDER BY n") == [(n,) for n in range(12)]


def test_a_loader_that_lost_its_turn_changes_nothing(
    shop: Shop, other: Shop, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "LEASE_S", 1.0)
    monkeypatch.setattr(head, "LOOK_S", 0.05)
    shop.put("/lamp/1", lamp_page("L1"))
    shop.parse("r1")
    with shop.installation.open_tables().warehouse() as slow:
        slow.connection.execute("CREATE TABLE loading.mine (n INTEGER)")
        with slow._turn._lock:  # its signs of life do not get out
            other.load("r2")
        with pytest.raises(WarehouseError, match="taken over"):
            slow.keep()
    assert shop.rows("SELECT sku FROM lamp") == [("L1",)]
    assert shop.rows("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'mine'") == [(0,)]
    assert json.loads(bucket.get(head.HEAD))["holder"] == ""


def test_a_loader_that_works_for_long_keeps_its_turn(
    shop: Shop, other: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "LEASE_S", 0.6)
    order: list[str] = []

    def second() -> None:
        with other.installation.open_tables().warehouse():
            order.append("second")

    with shop.installation.open_tables().warehouse() as warehouse:
        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(1.5)
        order.append("first")
        warehouse.keep()
    waiting.join(30)
    assert order == ["first", "second"]


@pytest.mark.slow
@pytest.mark.parametrize("point", ["put_file", "swap", "delete"])
def test_the_store_is_killed_during_a_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    server = S3Server()
    monkeypatch.setattr(bucket_module, "RETRY_S", 1.0)
    shop = Shop(tmp_path, server.place("tables"))
    try:
        second_night(shop)
        shop.parse("r2")
        real = getattr(Bucket, point)

        def dies(self: Bucket, *rest: object) -> object:
            server.kill()
            return real(self, *rest)

        with monkeypatch.context() as patched, pytest.raises(WarehouseError):
            patched.setattr(Bucket, point, dies)
            load_domains(shop.installation, [DOMAIN], run_id="r2")
        server.start()
        shop.load("r2")
        publish(shop.installation)
        assert shop.rows("SELECT sku, price FROM lamp ORDER BY 1") == [
            ("L1", 6),
            ("L2", 5),
            ("L3", 5),
            ("L9", 5),
        ]
        assert shop.rows("SELECT count(*), count(DISTINCT url) FROM fetch_log") == [(2, 2)]
    finally:
        shop.close()
        server.stop()


def test_a_swap_whose_answer_was_lost_counts(bucket: Bucket) -> None:
    tag = bucket.swap("x", b"1", None)
    assert tag is not None
    assert bucket.swap("x", b"1", None) == tag  # as when a request is sent again
    assert bucket.swap("x", b"2", None) is None
    assert bucket.swap("x", b"2", tag) is not None
    assert bucket.swap("x", b"3", tag) is None
    assert bucket.get("x") == b"2"


def test_nothing_published_is_no_file(shop: Shop, other: Shop) -> None:
    assert published_path(shop.installation) is None
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r1")
    assert published_path(other.installation) is None


#: The points of the second list are like their neighbours in the first and run with the slow tests.
POINTS = [("load", OBJECTS, "_ObjectWarehouse._count", "before")]
MORE_POINTS = [
    ("load", OBJECTS, "_ObjectWarehouse._count", "after"),
    ("publish", OBJECTS, "_ObjectWarehouse._count", "before"),
    ("parse", BUCKET, "Bucket.put_file", "after"),
    ("parse", "resources.warehouse.storage.objects", "write_batch", "before"),
    ("parse", "resources.warehouse.storage.objects", "write_batch", "after"),
    ("load", LOAD, "apply_batch", "after"),
    ("load", LOAD, "_write_index", "after"),
    ("load", BUCKET, "Bucket.put_file", "before"),
    ("load", BUCKET, "Bucket.put_file", "after"),
    ("load", OBJECTS, "note", "before"),
    ("load", OBJECTS, "_ObjectWarehouse.loaded", "before"),
    ("load", OBJECTS, "_ObjectWarehouse.loaded", "after"),
    ("load", OBJECTS, "drop_batches", "before"),
    ("load", "resources.frontier.sqlite.frontier", "SqliteFrontier.trim_log", "before"),
    ("publish", OBJECTS, "_ObjectWarehouse._count", "after"),
    ("publish", OBJECTS, "note", "before"),
]


@pytest.mark.parametrize("elsewhere", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("step", "module", "name", "when"),
    [*POINTS, *(pytest.param(*point, marks=pytest.mark.slow) for point in MORE_POINTS)],
)
def test_repeated_after_a_kill_on_this_machine_or_another_the_tables_are_right(
    shop: Shop, other: Shop, bucket: Bucket, monkeypatch: pytest.MonkeyPatch,
    step: str, module: str, name: str, when: str, elsewhere: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr(head, "LEASE_S", 2.0)
    second_night(shop)
    if step != "parse":
        shop.parse("r2")
    if step == "publish":
        shop.load("r2")
    die(shop, step, module, name, when)
    assert table_counts(other.installation)["lamp"] == 4  # readers have a whole night, whichever

    shop.close()
    place = other if elsewhere else shop
    place.parse("r2")
    place.load("r2")
    place.load("r2")
    publish(place.installation)
    assert place.rows("SELECT sku, price FROM lamp ORDER BY 1") == [
        ("L1", 6),
        ("L2", 5),
        ("L3", 5),
        ("L9", 5),
    ]
    assert place.rows("SELECT count(*), count(DISTINCT url) FROM pages") == [(4, 4)]
    assert place.rows("SELECT count(*), count(DISTINCT (from_url, to_url)) FROM links") == [(7, 7)]
    assert place.rows("SELECT count(*), count(DISTINCT url) FROM fetch_log") == [(2, 2)]
    assert place.rows("SELECT url, reason FROM gone_pages") == [(f"https://{DOMAIN}/lamp/0", "http_404")]
    left = {each.rpartition("/")[2] for each, _ in bucket.names("staging")}
    assert "batch.json" not in left  # what a dead upload left without one goes after a day
    assert len(bucket.names("warehouse")) <= 2
    assert table_counts(shop.installation) == table_counts(other.installation)
    assert published_path(shop.installation) is not None
