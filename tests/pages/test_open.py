"""Opening a page store by name, and what it says when it cannot."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from resources.pages.base import PageStoreError
from resources.pages.files import FilePages
from resources.pages.memory import MemoryPages
from resources.pages.open import open_pages
from resources.pages.sqlite import SqlitePages
from tests.pages.samples import DOMAIN, version
from tests.pages.version_1 import make


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, kind in {
        "memory:": MemoryPages,
        "pages.sqlite": SqlitePages,
        "sqlite:///in/a%20folder.sqlite": SqlitePages,
        f"sqlite:///{tmp_path}/absolute.sqlite": SqlitePages,
        "files:///folder": FilePages,
    }.items():
        store = open_pages(name)
        assert isinstance(store, kind)
        store.close()
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.sqlite")}
    assert names == {"pages.sqlite", "in/a folder.sqlite", "absolute.sqlite"}


@pytest.mark.parametrize("name", ["", "sqlite://", "sqlite:///", "sqlite://host/x", "files:///", "ftp:///x"])
def test_a_name_of_nothing(name: str) -> None:
    with pytest.raises(PageStoreError, match="names no back-end"):
        open_pages(name)


@pytest.mark.parametrize("place", ["{}/pages.sqlite", "files:///{}/pages"])
def test_read_only(tmp_path: Path, place: str) -> None:
    name = place.format(tmp_path)
    with pytest.raises(PageStoreError, match="crawl first"):
        open_pages(name, read_only=True)
    writer = open_pages(name)
    writer.put([version()])
    reader = open_pages(name, read_only=True)
    assert [body for _, body in reader.read(DOMAIN)] == [version().body]
    with pytest.raises(PageStoreError, match="read-only"):
        reader.put([version("/b")])
    with pytest.raises(PageStoreError, match="read-only"):
        reader.touch([version().head])
    reader.close()
    writer.close()


def test_somebody_elses_database(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(PageStoreError, match=r"theirs\.sqlite.*some other program; name another file"):
        open_pages(str(path))


def test_not_a_database(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("text " * 1000)
    with pytest.raises(PageStoreError, match="not a SQLite database; name another file"):
        open_pages(str(path))


def test_a_newer_schema(tmp_path: Path) -> None:
    path = tmp_path / "pages.sqlite"
    open_pages(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(PageStoreError, match=r"version 99 is newer.*upgrade Nightcrawl"):
        open_pages(str(path))


def test_an_older_schema_cannot_be_upgraded_read_only(tmp_path: Path) -> None:
    path = tmp_path / "pages.sqlite"
    make(path, [[version()]])
    with pytest.raises(PageStoreError, match=r"schema version 1, .* is 2.* open it once for writing"):
        open_pages(str(path), read_only=True)
    open_pages(str(path)).close()
    store = open_pages(str(path), read_only=True)
    assert store.body(version().head) == version().body
    store.close()


def test_a_schema_that_never_was(tmp_path: Path) -> None:
    path = tmp_path / "pages.sqlite"
    open_pages(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = -1")
    with pytest.raises(PageStoreError, match="version -1, which no release wrote"):
        open_pages(str(path))


def test_a_newer_layout(tmp_path: Path) -> None:
    open_pages(f"files:///{tmp_path}/pages").close()
    (tmp_path / "pages" / "version").write_text("99\n")
    with pytest.raises(PageStoreError, match=r"version 99 is newer.*upgrade Nightcrawl"):
        open_pages(f"files:///{tmp_path}/pages")


def test_a_folder_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear …")
    with pytest.raises(PageStoreError, match="holds other files; name an empty or a new one"):
        open_pages(f"files:///{tmp_path}")


def test_a_file_where_a_folder_is_needed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in (f"{tmp_path}/file/pages.sqlite", f"files:///{tmp_path}/file/pages"):
        with pytest.raises(PageStoreError, match="name"):
            open_pages(name)


def test_locked_by_another_process(tmp_path: Path) -> None:
    path = tmp_path / "pages.sqlite"
    store = SqlitePages(path, busy_s=0.01)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(PageStoreError, match=r"held its lock.*run again"):
        store.put([version()])
    other.execute("ROLLBACK")
    other.close()
    store.put([version()])
    assert store.head(version().head.key) == version().head
    store.close()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    store = SqlitePages(tmp_path / "pages.sqlite")
    store.put([version("/small")])
    # SQLite's own limit fails in the same way, and at the same places, as a disk that is full.
    connection = store._database.connection
    (used,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {used + 2}")
    noise = b"".join(sqlite3.connect(":memory:").execute("SELECT randomblob(100000)").fetchone())
    with pytest.raises(PageStoreError, match="disk is full; nothing was lost: make room"):
        store.put([version("/large", noise)])
    connection.execute("PRAGMA max_page_count = 1000000")
    store.put([version("/large", noise)])
    assert {head.body_bytes for head in store.scan(DOMAIN)} == {14, 100_000}
    assert store.verify(DOMAIN) == []
    store.close()
