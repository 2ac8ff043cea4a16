"""The sorted file beside the SQLite frontier: exact, made again when it is missing, merged whatever happens between."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.frontier.base import Discovery
from resources.frontier.sqlite.enqueue import add_urls
from resources.frontier.sqlite.frontier import SqliteFrontier
from resources.frontier.sqlite.key_run import KeyRun, Merge, Rows, run_path

NOW = 1_700_000_000.0
#: Few values, so that first halves of keys agree.
WORDS = st.sampled_from([bytes(8), b"\0" * 7 + b"\1", b"\x7f" + b"\xff" * 7, b"\x80" + bytes(7), b"\xff" * 8])
KEYS = st.tuples(WORDS, WORDS).map(b"".join)


@pytest.fixture(autouse=True)
def small_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.frontier.sqlite.key_index.SWEEP_AT", 40)
    monkeypatch.setattr("resources.frontier.sqlite.key_index.WARM_KEYS", 5)


def urls(first: int, last: int, domain: str = "shop.example") -> list[Discovery]:
    rng = random.Random(first)
    return [
        Discovery(number.to_bytes(8) + rng.randbytes(8), f"https://{domain}/{number}", domain, 1, 20)
        for number in range(first, last)
    ]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "frontier.sqlite"


@pytest.fixture
def frontier(place: Path) -> Iterator[SqliteFrontier]:
    opened = SqliteFrontier(place)
    yield opened
    opened.close()


def runs(place: Path) -> list[Path]:
    return sorted(place.parent.glob("*-keys-*"))


def grow(frontier: SqliteFrontier, count: int, first: int = 0) -> list[Discovery]:
    """New URLs in batches of ten."""
    every: list[Discovery] = []
    for start in range(first, first + count, 10):
        batch = urls(start, start + 10)
        assert frontier.enqueue(batch, NOW).new == 10
        every += batch
    return every


# -- one run -----------------------------------------------------------------------------------------------------
@settings(max_examples=60)
@given(old=st.sets(KEYS), new=st.sets(KEYS), gone=st.sets(KEYS), share=st.floats(0.01, 1))
def test_a_merge_holds_what_both_held_but_what_is_gone(
    tmp_path_factory: pytest.TempPathFactory, old: set[bytes], new: set[bytes], gone: set[bytes], share: float
) -> None:
    base = tmp_path_factory.mktemp("run") / "db"
    new -= old
    ids = {key: number for number, key in enumerate([*old, *new], 1)}
    nothing = Rows.of([], [])
    first = Merge(base, 1, None, Rows.of(list(old), [ids[key] for key in old]), nothing)
    assert first.step(share)  # nothing old to go through: one step
    run = first.finish()
    dropped = Rows.of(list(gone), [ids.get(key, 0) for key in gone])
    merge = Merge(base, 2, run, Rows.of(list(new), [ids[key] for key in new]), dropped)
    while not merge.step(share):
        pass
    merged = merge.finish()
    kept = (old - gone) | new
    assert merged.find(list(ids)) == {key: ids[key] for key in kept}
    assert run.find(list(ids)) == {key: ids[key] for key in old}


def test_a_damaged_run_is_refused(tmp_path: Path) -> None:
    merge = Merge(tmp_path / "db", 7, None, Rows.of([bytes(16)], [1]), Rows.of([], []))
    merge.step(1)
    path = merge.finish().path
    whole = path.read_bytes()
    for broken in (whole[:-1], whole[:10], b"x" + whole[1:], b""):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="not a whole run"):
            KeyRun(path, 7)
    path.write_bytes(whole)
    with pytest.raises(ValueError, match="not a whole run"):
        KeyRun(path, 8)


# -- in a frontier -----------------------------------------------------------------------------------------------
def test_every_url_is_known_after_many_merges(frontier: SqliteFrontier, place: Path) -> None:
    every = grow(frontier, 500)
    assert len(runs(place)) >= 1
    assert frontier.known([d.key for d in every]) == {d.key for d in every}
    assert frontier.enqueue(every, NOW).new == 0
    record = frontier.get(every[0].key)
    assert record is not None and record.url == every[0].url


@pytest.mark.parametrize("harm", ["delete", "cut", "replace"])
def test_a_lost_run_is_made_again(place: Path, harm: str) -> None:
    frontier = SqliteFrontier(place)
    every = grow(frontier, 300)
    frontier.close()
    for path in runs(place):
        if harm == "delete":
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:100] if harm == "cut" else b"other")
    frontier = SqliteFrontier(place)
    assert frontier.enqueue(every, NOW).new == 0
    grow(frontier, 100, first=1_000)
    frontier.close()


def test_a_reset_domain_is_forgotten_and_can_be_met_again(frontier: SqliteFrontier) -> None:
    others = urls(5_000, 5_100, "books.example")
    frontier.enqueue(others, NOW)
    every = grow(frontier, 300)
    assert frontier.reset("shop.example") == 300
    assert frontier.known([d.key for d in every]) == set()
    assert frontier.known([d.key for d in others]) == {d.key for d in others}
    assert frontier.enqueue(every[:150], NOW).new == 150
    grow(frontier, 200, first=2_000)  # a merge in between
    assert frontier.known([d.key for d in every]) == {d.key for d in every[:150]}
    assert frontier.enqueue(every, NOW).new == 150
    counts = frontier.recount("shop.example")
    assert counts.pending == 500 and counts == frontier.counts("shop.example")


def test_two_processes_merge_beside_each_other(frontier: SqliteFrontier, place: Path) -> None:
    other = SqliteFrontier(place)
    every: list[Discovery] = []
    for start in range(0, 600, 20):
        every += grow(frontier, 10, first=start)
        every += grow(other, 10, first=start + 10)
        if start == 300:
            assert other.reset("nobody.example") == 0
    for each in (frontier, other):
        assert each.enqueue(every, NOW).new == 0
    other.close()
    assert frontier.enqueue(every, NOW).new == 0


def test_a_failed_transaction_takes_its_keys_with_it(frontier: SqliteFrontier) -> None:
    grow(frontier, 100)
    late = urls(9_000, 9_060)
    with pytest.raises(RuntimeError, match="no"), frontier._storage.write() as writing:
        add_urls(frontier._storage, writing, late, NOW)
        raise RuntimeError("no")
    assert frontier.known([d.key for d in late]) == set()
    assert frontier.enqueue(late, NOW).new == 60


def test_old_runs_and_drafts_of_dead_processes_are_removed(frontier: SqliteFrontier, place: Path) -> None:
    grow(frontier, 100)
    dead = place.with_name(f"{place.name}-keys-draft-4194305-00")  # beyond the largest process id
    dead.write_bytes(b"")
    own = place.with_name(f"{place.name}-keys-draft-{os.getpid()}-00")
    own.write_bytes(b"")
    grow(frontier, 400, first=1_000)
    assert not dead.exists() and own.exists()
    assert len([path for path in runs(place) if "draft" not in path.name]) == 2


def test_a_frontier_of_version_1_is_brought_up_to_date(place: Path) -> None:
    frontier = SqliteFrontier(place)
    every = grow(frontier, 200)
    frontier.close()
    for path in runs(place):
        path.unlink()
    with sqlite3.connect(place) as old:
        old.executescript(
            "DROP TABLE forgotten_key; DROP TABLE sweep; PRAGMA user_version = 1;"
            "CREATE TABLE url_key (key BLOB PRIMARY KEY, id INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
            "CREATE TABLE sweep (done_to INTEGER NOT NULL, going_to INTEGER NOT NULL, after BLOB, forgotten INTEGER NOT NULL) STRICT;"
            "INSERT INTO sweep VALUES (0, 0, NULL, 0);"
        )
    frontier = SqliteFrontier(place)
    assert frontier.enqueue(every, NOW).new == 0
    assert frontier.counts("shop.example").pending == 200
    frontier.close()


def test_the_name_of_a_run_says_whose_it_is(place: Path) -> None:
    assert run_path(place, 255).name == "frontier.sqlite-keys-00000000000000ff"
