"""Opening a frontier by name, and storages that cannot be used: errors that say where and what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from resources.frontier.base import FrontierError, FrontierFull
from resources.frontier.memory import MemoryFrontier
from resources.frontier.open import open_frontier
from resources.frontier.sqlite import SqliteFrontier
from resources.frontier.sqlite.database import Database
from tests.frontier.samples import SHOP, url


def test_a_path_or_a_url_names_the_back_end(tmp_path: Path) -> None:
    assert isinstance(open_frontier("memory:"), MemoryFrontier)
    for number, place in enumerate([f"{tmp_path}/deep/0.sqlite", f"sqlite:///{tmp_path}/deep%2Fer/1.sqlite"]):
        frontier = open_frontier(place)
        assert isinstance(frontier, SqliteFrontier)
        assert f"{number}.sqlite" in repr(frontier)
        frontier.close()
    assert (tmp_path / "deep" / "er" / "1.sqlite").exists()


@pytest.mark.parametrize("place", ["mongo://host/db", "sqlite:///", "sqlite://x", ""])
def test_an_unknown_back_end_is_refused_with_the_known_ones(place: str) -> None:
    with pytest.raises(FrontierError, match="memory:, sqlite:"):
        open_frontier(place)


def test_what_is_there_stays_there(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    frontier = SqliteFrontier(path)
    frontier.enqueue([url("a")], 1.0)
    frontier.close()
    again = SqliteFrontier(path)
    assert again.counts(SHOP).pending == 1
    assert again.enqueue([url("a")], 2.0).known == 1
    again.close()


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    SqliteFrontier(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {Database.schema_version + 1}")
    connection.close()
    with pytest.raises(FrontierError, match=rf"{path}.*newer.*upgrade"):
        SqliteFrontier(path)


def test_somebody_elses_database_is_not_written_into(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(FrontierError, match="some other program"):
        SqliteFrontier(path)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    path.write_text("hello, this is a text file, and a longer one than the header of a database" * 9)
    with pytest.raises(FrontierError, match="not a SQLite database"):
        SqliteFrontier(path)
    assert path.read_text().startswith("hello")


def test_a_place_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FrontierError, match="cannot be opened"):
        SqliteFrontier(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(FrontierError, match="cannot create its folder"):
        SqliteFrontier(tmp_path / "file" / "f.sqlite")


def test_a_lock_held_for_too_long(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    frontier = SqliteFrontier(path, busy_s=0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(FrontierError, match=r"lock for more than 0\.05 s"):
        frontier.enqueue([url("a")], 1.0)
    assert frontier.counts(SHOP).pending == 0
    other.execute("ROLLBACK")
    other.close()
    assert frontier.enqueue([url("a")], 1.0).new == 1
    frontier.close()


def test_a_full_disk_loses_nothing_and_ends(tmp_path: Path) -> None:
    frontier = SqliteFrontier(tmp_path / "f.sqlite")
    frontier.enqueue([url("a")], 1.0)
    connection = frontier._storage.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    many = [url(f"{number}-{'x' * 200}") for number in range(2_000)]
    with pytest.raises(FrontierFull, match="make room"):
        frontier.enqueue(many, 2.0)
    assert frontier.counts(SHOP).discovered == 1 == frontier.recount(SHOP).discovered
    connection.execute("PRAGMA max_page_count = 1000000")
    assert frontier.enqueue([*many, url("a")], 3.0).new == 2_000
    frontier.close()
