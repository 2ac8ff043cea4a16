"""What only the SQLite store promises."""

from __future__ import annotations

import gc
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from resources.pages.base import Kind
from resources.pages.compression import Codec
from resources.pages.sqlite import SqlitePages
from tests.pages.samples import DOMAIN, article, version


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pages.sqlite"


def size(path: Path) -> int:
    return sum(each.stat().st_size for each in path.parent.iterdir())


def test_the_whole_store_is_much_smaller_than_its_bodies(path: Path) -> None:
    store = SqlitePages(path)
    versions = [version(f"/{number}", article(number)) for number in range(400)]
    for first in range(0, 400, 7):
        store.put(versions[first : first + 7])
    store.maintain(DOMAIN)
    store.close()
    # Nine tenths of each of these pages are the site's frame, the rest random hexadecimal digits.
    assert size(path) * 9 < sum(len(each.body) for each in versions)


def test_heads_that_differ_little_take_little_room(path: Path) -> None:
    store = SqlitePages(path)
    headers = tuple(
        (f"X-Policy-{number}", f"a long value that never changes {number}") for number in range(20)
    )
    store.put(
        [version(f"/{number}", b"", headers=(*headers, ("Age", str(number)))) for number in range(1000)]
    )
    store.close()
    with sqlite3.connect(path) as connection:
        (average,) = connection.execute("SELECT avg(length(fields)) FROM page").fetchone()
    assert average < 80


def average_head(path: Path) -> float:
    with sqlite3.connect(path) as connection:
        (average,) = connection.execute("SELECT avg(length(fields)) FROM page WHERE kind = 0").fetchone()
    return float(average)


def test_the_head_of_robots_txt_is_no_example_for_those_of_pages(path: Path) -> None:
    headers = tuple(
        (f"X-Policy-{number}", f"a long value that never changes {number}") for number in range(20)
    )
    store = SqlitePages(path)
    store.put([version("/robots.txt", b"User-agent: *", kind=Kind.ROBOTS, headers=())])
    store.put(
        [version(f"/{number}", b"", headers=(*headers, ("Age", str(number)))) for number in range(1000)]
    )
    store.close()
    assert average_head(path) < 80


def test_heads_of_a_store_that_took_robots_txt_for_their_example_shrink_as_they_are_written_again(
    path: Path,
) -> None:
    headers = tuple(
        (f"X-Policy-{number}", f"a long value that never changes {number}") for number in range(20)
    )
    pages = [version(f"/{number}", b"", headers=headers) for number in range(100)]
    # A page, to the store: so it was before it asked what the first head is of.
    store = SqlitePages(path)
    store.put([version("/robots.txt", b"User-agent: *", headers=())])
    store.put(pages)
    before = average_head(path)
    store.maintain(DOMAIN)
    store.touch([each.head for each in pages])
    assert average_head(path) < before / 2
    assert store.heads([each.head.key for each in pages]) == {each.head.key: each.head for each in pages}
    store.close()


def test_a_domain_whose_pages_share_nothing_is_stored_plain(path: Path) -> None:
    store = SqlitePages(path)
    noise = [sqlite3.connect(":memory:").execute("SELECT randomblob(20000)").fetchone()[0] for _ in range(40)]
    versions = [version(f"/{number}", body) for number, body in enumerate(noise)]
    store.put(versions)
    assert {head.key: body for head, body in store.read(DOMAIN)} == {
        each.head.key: each.body for each in versions
    }
    store.close()


def test_tables_of_a_dictionary_that_was_followed_by_another_take_no_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.pages.sqlite.store.TRAIN_GROWTH", 2)
    monkeypatch.setattr("resources.pages.sqlite.store.FIRST_DICTIONARY_BYTES", 0)
    others = [each for each in gc.get_objects() if isinstance(each, Codec)]  # of stores of other tests
    store = SqlitePages(path)
    versions = [version(f"/{number}", article(number)) for number in range(300)]
    for first in range(0, 300, 30):
        store.put(versions[first : first + 30])
    with sqlite3.connect(path) as connection:
        (trained,) = connection.execute("SELECT count(DISTINCT dictionary) FROM body").fetchone()
    assert trained > 3
    assert len(list(store.read(DOMAIN))) == 300
    codecs = [
        each for each in gc.get_objects() if isinstance(each, Codec) and each._shared and each not in others
    ]
    assert sum(each._compressor is not None and each._dictionary is not None for each in codecs) == 1
    store.close()


def test_room_that_a_forgotten_domain_took_is_given_back(path: Path) -> None:
    store = SqlitePages(path)
    noise = [
        sqlite3.connect(":memory:").execute("SELECT randomblob(200000)").fetchone()[0] for _ in range(60)
    ]
    store.put([version(f"/{number}", body) for number, body in enumerate(noise)])
    store.put([version("/", domain="other.example")])
    store.close()
    full = size(path)
    store = SqlitePages(path)
    store.forget(DOMAIN)
    store.maintain("other.example")
    store.close()
    assert size(path) < full / 2


def test_maintenance_rewrites_nothing_that_is_as_it_should_be(path: Path) -> None:
    store = SqlitePages(path)
    store.put([version(f"/{number}", article(number)) for number in range(200)])
    for _ in range(2):
        store.maintain(DOMAIN)
    connection = sqlite3.connect(path)
    packs = connection.execute("SELECT id FROM pack").fetchall()
    store.maintain(DOMAIN)
    assert connection.execute("SELECT id FROM pack").fetchall() == packs
    connection.close()
    store.close()


def test_two_keys_that_begin_alike_are_told_apart(path: Path) -> None:
    store = SqlitePages(path)
    pair = [version("/a", b"a"), version("/b", b"b")]
    pair = [
        replace(each, head=replace(each.head, key=b"\x80" * 8 + bytes([number]) * 8))
        for number, each in enumerate(pair)
    ]
    store.put(pair)
    store.put([replace(pair[0], head=replace(pair[0].head, validated_at=5000.0))])
    assert store.heads([each.head.key for each in pair])[pair[1].head.key] == pair[1].head
    assert [head.key for head in store.scan(DOMAIN)] == [each.head.key for each in pair]
    assert [head.key for head in store.scan(DOMAIN, after=pair[0].head.key)] == [pair[1].head.key]
    store.close()
