"""Connections to Dagster's databases that stay open: quicker, and what is read and written is as with Dagster's own."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.sqlite import create_db_conn_string
from sqlalchemy import text

from crawl_assets.automation.instance_storage import BatchedEventLog
from crawl_assets.automation.kept_connections import DATABASES, KEPT, KeptConnections, KeptRuns, KeptSchedules
from crawl_assets.definitions import defs
from crawl_assets.partitions import domains

OURS = (
    "storage: {{custom: {{module: crawl_assets.automation.instance_storage, class: NightlyStorage, "
    "config: {{base_dir: '{folder}'}}}}}}\n"
)


@pytest.fixture
def kept(tmp_path: Path) -> KeptConnections:
    found = KeptConnections(create_db_conn_string(str(tmp_path), "some"))
    with found.begin() as connection:
        connection.execute(text("CREATE TABLE t (n INTEGER)"))
    return found


def numbers(kept: KeptConnections) -> list[int]:
    with kept.begin() as connection:
        return [int(row[0]) for row in connection.execute(text("SELECT n FROM t ORDER BY n"))]


def opened(path: Path) -> int:
    """How often this process has the file open."""
    links = (link for link in Path("/proc/self/fd").iterdir() if link.is_symlink())
    return sum(str(link.readlink()) == str(path) for link in list(links) if link.exists())


def test_a_block_is_a_transaction(kept: KeptConnections) -> None:
    with kept.begin() as connection:
        connection.execute(text("INSERT INTO t VALUES (1)"))
    with pytest.raises(ZeroDivisionError), kept.begin() as connection:
        connection.execute(text("INSERT INTO t VALUES (2)"))
        _ = 1 // 0
    assert numbers(kept) == [1]


def test_what_other_processes_write_is_seen_and_they_are_not_held_up(
    kept: KeptConnections, tmp_path: Path
) -> None:
    assert numbers(kept) == []  # a connection is open from here on
    with sqlite3.connect(tmp_path / "some.db", timeout=0.0) as other:
        other.execute("INSERT INTO t VALUES (7)")
    assert numbers(kept) == [7]


def test_as_many_as_ask_at_once_are_served_and_few_stay_open(kept: KeptConnections, tmp_path: Path) -> None:
    together = threading.Barrier(KEPT + 4)

    def ask() -> None:
        with kept.begin() as connection:
            connection.execute(text("SELECT * FROM t")).fetchall()
            together.wait(30)

    threads = [threading.Thread(target=ask) for _ in range(KEPT + 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= opened(tmp_path / "some.db") <= KEPT
    kept.close()
    assert opened(tmp_path / "some.db") == 0
    assert numbers(kept) == []  # and it opens again


def test_a_database_that_was_deleted_and_made_anew_is_found(kept: KeptConnections, tmp_path: Path) -> None:
    with kept.begin() as connection:
        connection.execute(text("INSERT INTO t VALUES (1)"))
    made = tmp_path / "new.db"
    with sqlite3.connect(made) as other:
        other.execute("CREATE TABLE t (n INTEGER)")
        other.execute("INSERT INTO t VALUES (2)")
    other.close()
    for file in tmp_path.glob("some.db*"):
        file.unlink()
    made.rename(tmp_path / "some.db")
    assert numbers(kept) == [2]


def test_a_process_looks_once_whether_a_database_is_as_it_should_be(tmp_path: Path) -> None:
    kept = KeptConnections(create_db_conn_string(str(tmp_path), "runs"))
    assert not kept.ready()
    KeptRuns.from_local(str(tmp_path)).get_runs()
    assert kept.ready()
    (tmp_path / "runs.db").rename(tmp_path / "kept.db")
    assert not kept.ready()
    assert KeptRuns.from_local(str(tmp_path)).get_runs() == []  # made anew
    assert kept.ready() and (tmp_path / "runs.db").exists()


def test_a_forked_process_opens_its_own(kept: KeptConnections) -> None:
    assert numbers(kept) == []
    child = os.fork()
    if child == 0:
        with kept.begin() as connection:
            connection.execute(text("INSERT INTO t VALUES (3)"))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert numbers(kept) == [3]


def test_databases_of_long_ago_are_closed(kept: KeptConnections, tmp_path: Path) -> None:
    assert numbers(kept) == [] and opened(tmp_path / "some.db")
    for number in range(DATABASES):
        with KeptConnections(create_db_conn_string(str(tmp_path), f"other-{number}")).begin() as connection:
            connection.execute(text("SELECT 1"))
    assert not opened(tmp_path / "some.db")
    assert numbers(kept) == []


def test_instances_write_and_read_through_them(tmp_path: Path, fresh_instance: Path) -> None:
    folder = tmp_path / "dagster"
    shutil.copytree(fresh_instance, folder)
    (folder / "dagster.yaml").write_text(OURS.format(folder=folder))
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        storage = instance.event_log_storage
        assert isinstance(storage, BatchedEventLog)
        assert isinstance(instance.run_storage, KeptRuns)
        assert isinstance(instance.schedule_storage, KeptSchedules)
        instance.add_dynamic_partitions(str(domains.name), ["shop.example"])
        run = instance.create_run_for_job(defs().resolve_job_def("plan"))
        instance.report_engine_event("looked at", run)
        instance.report_runless_asset_event(dg.AssetMaterialization("an_asset", partition="shop.example"))
        assert instance.get_run_by_id(run.run_id) is not None
        assert instance.get_materialized_partitions(dg.AssetKey("an_asset")) == {"shop.example"}
        assert instance.all_instigator_state() == []
        assert storage.has_table("asset_keys") and not storage.has_table("no_such_table")
        with storage.index_connection():
            assert storage.has_table("asset_keys")  # Dagster asks in the middle of a transaction
    with dg.DagsterInstance.from_config(str(folder)) as again:
        assert again.get_run_by_id(run.run_id) is not None
        assert 1 <= opened(Path(storage.path_for_shard("index"))) <= KEPT
