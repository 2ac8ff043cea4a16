"""The runs beside the SQLite frontier: every URL stays known, whoever merges, forgets, fails or loses a file."""

from __future__ import annotations

import logging
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.frontier.base import Discovery
from resources.frontier.sqlite.enqueue import add_urls
from resources.frontier.sqlite.frontier import SqliteFrontier
from resources.frontier.sqlite.key_run import KeyRun, run_path

NOW = 1_700_000_000.0
SWEEP_AT, FULL_AT = 40, 100


@pytest.fixture(autouse=True)
def small_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.frontier.sqlite.key_levels.SWEEP_AT", SWEEP_AT)
    monkeypatch.setattr("resources.frontier.sqlite.key_levels.FULL_AT", FULL_AT)
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


def files(place: Path) -> list[Path]:
    return sorted(place.parent.glob("*-keys-*"))


def chain(place: Path) -> list[int]:
    """The lengths of the runs that the database names, largest first."""
    with sqlite3.connect(place) as connection:
        (number,) = connection.execute("SELECT run FROM sweep").fetchone()
    if not number:
        return []
    top = KeyRun(run_path(place, number), number)
    return [len(KeyRun(run_path(place, each), each)) for each in top.header.beneath] + [len(top)]


def grow(frontier: SqliteFrontier, count: int, first: int = 0) -> list[Discovery]:
    """New URLs in batches of ten."""
    every: list[Discovery] = []
    for start in range(first, first + count, 10):
        batch = urls(start, start + 10)
        assert frontier.enqueue(batch, NOW).new == 10
        every += batch
    return every


def test_every_url_is_known_after_many_merges(frontier: SqliteFrontier) -> None:
    every = grow(frontier, 700)
    assert frontier.known([d.key for d in every]) == {d.key for d in every}
    assert frontier.enqueue(every, NOW).new == 0
    record = frontier.get(every[0].key)
    assert record is not None and record.url == every[0].url


def test_small_runs_fill_above_a_large_one_that_takes_them_in(frontier: SqliteFrontier, place: Path) -> None:
    seen: list[list[int]] = [[]]
    number = frontier._storage.keys._number
    for start in range(0, 1_500, 10):
        grow(frontier, 10, first=start)
        if frontier._storage.keys._number != number:
            number = frontier._storage.keys._number
            seen.append(chain(place))
    # 1. Only the run on top is ever not full; 2. there are never more than a few; 3. all but the newest keys are there.
    assert all(length >= FULL_AT for lengths in seen for length in lengths[:-1])
    assert max(map(len, seen)) in (3, 4)
    assert sum(seen[-1]) >= 1_500 - 3 * SWEEP_AT
    # The large one is made anew once for a full small one, not with each sweep.
    assert len({lengths[0] for lengths in seen[1:] if lengths[0] > 2 * FULL_AT}) <= 1_500 // FULL_AT
    assert seen[-1][0] > 900


@pytest.mark.parametrize("harm", ["delete", "cut", "replace"])
@pytest.mark.parametrize("which", ["all", "top", "beneath"])
def test_lost_runs_are_made_again(
    place: Path, harm: str, which: str, caplog: pytest.LogCaptureFixture
) -> None:
    frontier = SqliteFrontier(place)
    every = grow(frontier, 450)
    frontier.close()
    with sqlite3.connect(place) as connection:
        (number,) = connection.execute("SELECT run FROM sweep").fetchone()
    top = run_path(place, number)
    assert len(chain(place)) > 1
    for path in files(place):
        if which != "all" and (path == top) != (which == "top"):
            continue
        if harm == "delete":
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:100] if harm == "cut" else b"other")
    frontier = SqliteFrontier(place)
    assert frontier.enqueue(every, NOW).new == 0
    assert "made again" in caplog.text
    assert len(chain(place)) == 1
    grow(frontier, 400, first=1_000)
    assert frontier.enqueue(every, NOW).new == 0
    frontier.close()


def test_runs_of_an_earlier_release_are_made_again_without_a_warning(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    frontier = SqliteFrontier(place)
    every = grow(frontier, 300)
    frontier.close()
    for path in files(place):
        path.write_bytes(b"NCKEYS01" + bytes(5_000))
    with caplog.at_level(logging.INFO):
        frontier = SqliteFrontier(place)
        assert frontier.enqueue(every, NOW).new == 0
    (told,) = [record for record in caplog.records if "made again" in record.message]
    assert told.levelno == logging.INFO
    frontier.close()


def test_a_reset_domain_is_forgotten_and_can_be_met_again(frontier: SqliteFrontier, place: Path) -> None:
    others = urls(5_000, 5_100, "books.example")
    frontier.enqueue(others, NOW)
    every = grow(frontier, 600)
    assert len(chain(place)) > 1
    assert frontier.reset("shop.example") == 600
    assert frontier.known([d.key for d in every]) == set()
    assert frontier.known([d.key for d in others]) == {d.key for d in others}
    assert frontier.enqueue(every[:150], NOW).new == 150
    grow(frontier, 300, first=2_000)  # a merge in between, of all runs
    with sqlite3.connect(place) as connection:
        assert connection.execute("SELECT count(*) FROM forgotten_key").fetchone() == (0,)
    assert sum(chain(place)) <= 550
    assert frontier.known([d.key for d in every]) == {d.key for d in every[:150]}
    assert frontier.enqueue(every, NOW).new == 450
    counts = frontier.recount("shop.example")
    assert counts.pending == 900 and counts == frontier.counts("shop.example")


def test_two_processes_merge_beside_each_other(frontier: SqliteFrontier, place: Path) -> None:
    other = SqliteFrontier(place)
    every: list[Discovery] = []
    for start in range(0, 1_000, 20):
        every += grow(frontier, 10, first=start)
        # One adds more than the other: now this one's runs are committed first, now that one's.
        if start % 100 < 40:
            every += grow(other, 10, first=start + 10)
        if start == 600:
            assert other.reset("nobody.example") == 0
    for each in (frontier, other):
        assert each.enqueue(every, NOW).new == 0
    other.close()
    assert frontier.enqueue(every, NOW).new == 0
    assert max(chain(place)) > FULL_AT


#: Adds the same URLs as every other one, ten at a time, and says of how many it was the first.
ADDER = """
import sys
from resources.frontier.sqlite import key_index, key_levels
key_levels.SWEEP_AT, key_levels.FULL_AT, key_index.WARM_KEYS = 40, 100, 5
from resources.frontier.sqlite import SqliteFrontier
from tests.frontier.test_key_levels import NOW, urls
frontier = SqliteFrontier(sys.argv[1])
for start in range(0, int(sys.argv[2]), 10):
    print(frontier.enqueue(urls(start, start + 10), NOW).new, flush=True)
frontier.close()
"""
ROOT = Path(__file__).parents[2]


def adder(place: Path, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ADDER, str(place), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_processes_that_add_at_once_lose_no_key(frontier: SqliteFrontier, place: Path) -> None:
    started = [adder(place, 600) for _ in range(3)]
    told = [process.communicate(timeout=60)[0] for process in started]
    # Each URL was new to one of them.
    assert sum(map(int, "".join(told).split())) == 600 == frontier.recount("shop.example").pending
    every = [each for start in range(0, 600, 10) for each in urls(start, start + 10)]
    assert frontier.enqueue(every, NOW).new == 0
    assert not [path for path in files(place) if "draft" in path.name]


@pytest.mark.parametrize("batches", [7, 12, 31, 44])  # within a sweep, and within a merge of large runs
def test_a_process_that_is_killed_loses_its_drafts_only(place: Path, batches: int) -> None:
    killed = adder(place, 1_000_000)
    assert killed.stdout is not None
    said = [int(killed.stdout.readline()) for _ in range(batches)]
    killed.kill()
    said += [int(line) for line in killed.communicate()[0].split()]
    frontier = SqliteFrontier(place)
    added = frontier.recount("shop.example").pending
    assert added in (10 * len(said), 10 * len(said) + 10)
    every = [each for start in range(0, added, 10) for each in urls(start, start + 10)]
    assert frontier.enqueue(every, NOW).new == 0
    grow(frontier, 200, first=50_000)
    assert not [path for path in files(place) if f"draft-{killed.pid}-" in path.name]
    frontier.close()


def test_a_failed_transaction_takes_its_keys_with_it(frontier: SqliteFrontier) -> None:
    every = grow(frontier, 100)
    late = urls(9_000, 9_060)
    for _ in range(5):
        with pytest.raises(RuntimeError, match="no"), frontier._storage.write() as writing:
            add_urls(frontier._storage, writing, late, NOW)
            raise RuntimeError("no")
        assert frontier.known([d.key for d in late]) == set()
        every += grow(frontier, 30, first=100 + len(every))
    assert frontier.enqueue(late, NOW).new == 60
    assert frontier.enqueue(every, NOW).new == 0


def test_a_crash_between_a_run_and_its_commit_costs_a_file(frontier: SqliteFrontier, place: Path) -> None:
    every = grow(frontier, 450)
    before, lengths = frontier._storage.keys, chain(place)
    late = urls(9_000, 9_060)
    with pytest.raises(KeyboardInterrupt), frontier._storage.write() as writing:
        for start in range(0, 400, 10):  # several runs are made within this one transaction
            add_urls(frontier._storage, writing, urls(20_000 + start, 20_010 + start), NOW)
        raise KeyboardInterrupt
    assert chain(place) == lengths and frontier._storage.keys is before
    assert frontier.enqueue([*every, *late], NOW).new == 60
    grow(frontier, 300, first=30_000)
    named = {path for path in files(place) if "draft" not in path.name}
    assert len(named) <= 6
    assert frontier.enqueue([*every, *late], NOW).new == 0


def test_old_runs_and_drafts_of_dead_processes_are_removed(frontier: SqliteFrontier, place: Path) -> None:
    grow(frontier, 100)
    dead = place.with_name(f"{place.name}-keys-draft-4194305-00")  # beyond the largest process id
    dead.write_bytes(b"")
    own = place.with_name(f"{place.name}-keys-draft-{os.getpid()}-00")
    own.write_bytes(b"")
    grow(frontier, 600, first=1_000)
    assert not dead.exists() and own.exists()
    # Those of the present state and those of the one before it.
    assert len([path for path in files(place) if "draft" not in path.name]) <= 2 * len(chain(place))


@pytest.mark.parametrize("a_night", [20, 50])
def test_short_processes_leave_neither_ever_more_unswept_nor_ever_more_runs(
    place: Path, a_night: int
) -> None:
    """None of them adds as many as one sweep, or one merge of large runs, is spread over."""
    every: list[Discovery] = []
    for night in range(1_600 // a_night):
        frontier = SqliteFrontier(place)
        every += grow(frontier, a_night, first=night * a_night)
        frontier.close()
    assert sum(chain(place)) > 1_600 - 5 * SWEEP_AT
    assert len(chain(place)) < 9  # of 16
    frontier = SqliteFrontier(place)
    assert frontier.enqueue(every, NOW).new == 0
    frontier.close()


def test_a_frontier_of_version_1_is_brought_up_to_date(place: Path) -> None:
    frontier = SqliteFrontier(place)
    every = grow(frontier, 200)
    frontier.close()
    for path in files(place):
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


#: Keys of equal first halves, of neighbouring buckets, and of the ends of the range.
HEADS = [bytes(8), b"\0" * 7 + b"\1", b"\x7f" + b"\xff" * 7, b"\x80" + bytes(7), b"\xff" * 8]
KEYS = st.tuples(st.sampled_from(HEADS), st.integers(0, 30)).map(lambda pair: pair[0] + pair[1].to_bytes(8))
DOMAINS = ("shop.example", "news.example")
STEPS = st.lists(
    st.tuples(
        st.integers(0, 1),  # by which of two openers of the file
        st.sampled_from(["enqueue", "enqueue", "enqueue", "known", "fail", "reset", "open again"]),
        st.sets(KEYS, max_size=12),
        st.sampled_from(DOMAINS),
    ),
    max_size=60,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps=STEPS)
def test_it_answers_as_a_dict_would(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, steps: list[tuple[int, str, set[bytes], str]]
) -> None:  # fmt: skip
    monkeypatch.setattr("resources.frontier.sqlite.key_levels.SWEEP_AT", 6)
    monkeypatch.setattr("resources.frontier.sqlite.key_levels.FULL_AT", 15)
    place = tmp_path_factory.mktemp("model") / "frontier.sqlite"
    openers = [SqliteFrontier(place), SqliteFrontier(place)]
    model: dict[bytes, str] = {}
    for who, what, keys, domain in steps:
        batch = [Discovery(key, f"https://{domain}/{key.hex()}", domain, 1, 20) for key in sorted(keys)]
        opener = openers[who]
        if what == "enqueue":
            assert opener.enqueue(batch, NOW).new == len(keys - model.keys())
            model |= {key: domain for key in keys if key not in model}
        elif what == "known":
            assert opener.known(list(keys)) == keys & model.keys()
        elif what == "reset":
            assert opener.reset(domain) == sum(each == domain for each in model.values())
            model = {key: each for key, each in model.items() if each != domain}
        elif what == "open again":
            opener.close()
            openers[who] = SqliteFrontier(place)
        else:
            with pytest.raises(RuntimeError), opener._storage.write() as writing:
                add_urls(opener._storage, writing, batch, NOW)
                raise RuntimeError
    for opener in openers:
        every = [head + tail.to_bytes(8) for head in HEADS for tail in range(31)]
        assert opener.known(every) == model.keys()
        records = {record.key: record.domain for domain in DOMAINS for record in opener.records(domain)}
        assert records == model
        opener.close()
