"""Pages that share frames in the SQLite store: found, damaged, replaced and forgotten one by one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from resources.pages.base import CorruptBody, PageVersion
from resources.pages.sqlite import SqlitePages
from tests.pages.samples import DOMAIN, article, version
from tests.pages.version_1 import make


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pages.sqlite"


def pages_of(numbers: range, at: float = 1000.0, salt: int = 0) -> list[PageVersion]:
    return [version(f"/{number}", article(number + salt), at) for number in numbers]


def frames_of(path: Path) -> int:
    connection = sqlite3.connect(path)
    (count,) = connection.execute(
        "SELECT count(*) FROM (SELECT DISTINCT pack_id, start FROM body)"
    ).fetchone()
    connection.close()
    return int(count)


def packed(path: Path) -> int:
    connection = sqlite3.connect(path)
    (size,) = connection.execute("SELECT sum(length(data)) FROM pack").fetchone()
    connection.close()
    return int(size)


def damage_the_first_frame(path: Path, part: float = 0.0) -> set[bytes]:
    """Spoil 32 bytes of it, at that part of its length: its head, unless told otherwise. The contents in it."""
    connection = sqlite3.connect(path)
    with connection:
        pack, start, length = connection.execute(
            "SELECT pack_id, start, length FROM body ORDER BY pack_id, start LIMIT 1"
        ).fetchone()
        (data,) = connection.execute("SELECT data FROM pack WHERE id = ?", (pack,)).fetchone()
        at = start + int(length * part)
        spoiled = data[:at] + bytes(32) + data[at + 32 :]
        connection.execute("UPDATE pack SET data = ? WHERE id = ?", (spoiled, pack))
        members = connection.execute(
            "SELECT hash FROM body WHERE pack_id = ? AND start = ?", (pack, start)
        ).fetchall()
    connection.close()
    return {content for (content,) in members}


def test_pages_of_a_batch_share_frames_and_one_alone_has_its_own(path: Path) -> None:
    store = SqlitePages(path)
    store.put(pages_of(range(40)))
    together = frames_of(path)
    assert together < 5
    store.put(pages_of(range(100, 101)))
    assert frames_of(path) == together + 1
    for page in pages_of(range(40)):
        assert store.body(page.head) == page.body
    store.close()


def test_a_damaged_frame_is_told_of_every_page_in_it(path: Path) -> None:
    store = SqlitePages(path)
    pages = pages_of(range(60))
    store.put(pages)
    lost = damage_the_first_frame(path)
    assert 1 < len(lost) < 60
    assert {head.content_hash for head in store.verify(DOMAIN)} == lost
    assert {head.content_hash for head in store.corrupt(DOMAIN)} == lost
    for page in pages:
        if page.head.content_hash in lost:
            with pytest.raises(CorruptBody):
                store.body(page.head)
        else:
            assert store.body(page.head) == page.body
    assert list(store.bodies([page.head for page in pages])).count(None) == len(lost)
    # Housekeeping does not hide it, nor does it spoil the others.
    store.maintain(DOMAIN, dense=True)
    assert {head.content_hash for head in store.verify(DOMAIN)} == lost
    store.close()


def test_a_wrong_byte_costs_the_pages_that_it_is_in(path: Path) -> None:
    store = SqlitePages(path)
    pages = pages_of(range(60))
    store.put(pages)
    lost = damage_the_first_frame(path, 0.9)
    told = {head.content_hash for head in store.verify(DOMAIN)}
    assert told and told <= lost
    store.maintain(DOMAIN, dense=True)
    assert {head.content_hash for head in store.verify(DOMAIN)} == told
    store.close()


def test_each_page_of_a_damaged_frame_is_replaced_when_it_comes_again(path: Path) -> None:
    store = SqlitePages(path)
    pages = pages_of(range(30))
    store.put(pages)
    lost = damage_the_first_frame(path)
    first = next(page for page in pages if page.head.content_hash in lost)
    store.put([first])
    assert store.body(first.head) == first.body
    assert {head.content_hash for head in store.verify(DOMAIN)} == lost - {first.head.content_hash}
    store.put(pages)
    assert store.verify(DOMAIN) == [] == store.corrupt(DOMAIN)
    store.close()


def test_room_of_old_versions_is_given_back_though_their_neighbours_live(path: Path) -> None:
    store = SqlitePages(path, keep=1)
    store.put(pages_of(range(60)))
    store.maintain(DOMAIN)
    before = packed(path)
    changed = [page for page in pages_of(range(60), 2000.0, salt=1000) if int(page.head.url[-1]) % 2]
    store.put(changed)
    kept = packed(path)
    assert store.prune(DOMAIN, 0) == len(changed)
    store.maintain(DOMAIN)
    assert packed(path) < kept - before // 4
    heads = list(store.scan(DOMAIN))
    new = {page.head.url: page.body for page in changed}
    assert len(heads) == 60
    for head in heads:
        number = int(head.url.rpartition("/")[2])
        assert store.body(head) == new.get(head.url, article(number))
    store.close()


def test_pages_that_came_one_by_one_are_put_together_once(path: Path) -> None:
    store = SqlitePages(path)
    for page in pages_of(range(80)):
        store.put([page])
    assert frames_of(path) == 80
    alone = packed(path)
    store.maintain(DOMAIN)
    assert frames_of(path) < 8
    assert packed(path) < alone * 0.9
    connection = sqlite3.connect(path)
    packs = connection.execute("SELECT id FROM pack").fetchall()
    store.maintain(DOMAIN)
    assert connection.execute("SELECT id FROM pack").fetchall() == packs
    connection.close()
    assert {head.url: body for head, body in store.read(DOMAIN)} == {
        page.head.url: page.body for page in pages_of(range(80))
    }
    store.close()


def test_pages_of_several_frames_are_read_in_any_order(path: Path) -> None:
    store = SqlitePages(path)
    pages = pages_of(range(90))
    store.put(pages)
    shuffled = sorted(pages, key=lambda page: page.head.key)
    assert list(store.bodies([page.head for page in shuffled])) == [page.body for page in shuffled]
    parts = [dict(store.read(DOMAIN, part=part, parts=3)) for part in range(3)]
    assert sum(len(part) for part in parts) == 90
    store.close()


def test_a_store_of_version_1_keeps_everything(path: Path) -> None:
    nights = [pages_of(range(70)), pages_of(range(0, 70, 3), 2000.0, salt=1000)]
    make(path, nights)
    bodies = {page.head.content_hash: page.body for night in nights for page in night}
    store = SqlitePages(path)
    heads = list(store.scan(DOMAIN))
    assert len(heads) == 70
    history = [head for each in heads for head in store.history(each.key)]
    assert len(history) == 70 + len(nights[1])
    assert [store.body(head) for head in history] == [bodies[head.content_hash] for head in history]
    assert store.verify(DOMAIN) == []
    store.put(pages_of(range(200, 240)))
    store.close()
    # A second opening finds it upgraded; housekeeping puts the old bodies together.
    store = SqlitePages(path)
    alone = packed(path)
    store.maintain(DOMAIN)
    assert packed(path) < alone * 0.9 and frames_of(path) < 12
    history = [head for each in heads for head in store.history(each.key)]
    assert [store.body(head) for head in history] == [bodies[head.content_hash] for head in history]
    assert store.verify(DOMAIN) == []
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    connection.close()


def test_a_damaged_body_of_version_1_stays_known_as_such(path: Path) -> None:
    make(path, [pages_of(range(50))])
    lost = damage_the_first_frame(path)
    store = SqlitePages(path)
    store.maintain(DOMAIN)
    assert {head.content_hash for head in store.verify(DOMAIN)} == lost
    store.put(pages_of(range(50)))
    assert store.verify(DOMAIN) == []
    store.close()
