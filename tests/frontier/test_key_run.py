"""A run of keys: exact whatever the keys are like, made from others and from rows, refused when it is not whole."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.frontier.sqlite.key_merge import Merge
from resources.frontier.sqlite.key_run import Header, KeyRun, Layout, OldFormat, Rows, halves, run_path

#: Few values, so that first halves of keys agree; and some that differ in the last bits of the first half only.
WORDS = st.sampled_from(
    [
        bytes(8), b"\0" * 7 + b"\1", b"\0\0\0\0\0\1\0\0", b"\x7f" + b"\xff" * 7, b"\x80" + bytes(7),
        b"\xff" * 7 + b"\xfe", b"\xff" * 8,
    ]
)  # fmt: skip
KEYS = st.tuples(WORDS, WORDS).map(b"".join)


def merged(
    base: Path,
    sources: list[KeyRun],
    new: dict[bytes, int],
    gone: list[int],
    step: int = 1_000,
    last_id: int = 0,
) -> KeyRun:
    """A run of all of these."""
    merge = Merge(
        base, random.getrandbits(60), sources, Rows.of(list(new), list(new.values())),
        np.array(sorted(gone), np.uint64), last_id,
    )  # fmt: skip
    while not merge.step(step):
        pass
    return merge.finish([source.number for source in sources])


def found(run: KeyRun | Rows, keys: list[bytes]) -> dict[bytes, int]:
    places, there = run.places(*halves(keys))
    wanted = [key for key, is_there in zip(keys, there.tolist(), strict=True) if is_there]
    return dict(zip(wanted, run.ids_at(places[there]), strict=True))


@settings(max_examples=80)
@given(
    parts=st.lists(st.sets(KEYS), min_size=1, max_size=4),
    gone=st.sets(KEYS),
    step=st.integers(1, 40),
    high=st.sampled_from([0, 1 << 32]),
)
def test_a_merge_holds_what_all_held_but_what_is_gone(
    tmp_path_factory: pytest.TempPathFactory, parts: list[set[bytes]], gone: set[bytes], step: int, high: int
) -> None:
    base = tmp_path_factory.mktemp("run") / "db"
    ids: dict[bytes, int] = {}
    held: list[dict[bytes, int]] = []
    for part in parts:
        held.append({key: high + len(ids) + place for place, key in enumerate(part - ids.keys(), 1)})
        ids |= held[-1]
    last_id = high + len(ids)
    runs = [merged(base, [], rows, [], step, last_id) for rows in held[:-1]]
    whole = merged(base, runs, held[-1], [ids[key] for key in gone & ids.keys()], step, last_id)
    asked = [*ids, *gone]
    assert found(whole, asked) == {key: row_id for key, row_id in ids.items() if key not in gone}
    assert len(whole) == len(ids.keys() - gone)
    assert whole.header.beneath == tuple(run.number for run in runs)
    for run, rows in zip(runs, held, strict=False):
        assert found(run, asked) == rows


@given(rows=st.sets(KEYS).flatmap(lambda keys: st.permutations(sorted(keys))), asked=st.lists(KEYS))
def test_rows_in_memory_answer_like_a_dict_and_become_one_again(
    rows: list[bytes], asked: list[bytes]
) -> None:
    ids = {key: number for number, key in enumerate(rows, 1 << 33)}
    columns = Rows.of(rows, list(ids.values()))
    assert found(columns, rows) == ids
    assert found(columns, asked) == {key: ids[key] for key in asked if key in ids}
    assert list(columns.by_id().items()) == list(ids.items())


def test_random_keys_of_many_buckets_are_found_and_no_others(tmp_path: Path) -> None:
    rng = random.Random(3)
    keys = [rng.randbytes(16) for _ in range(60_000)]
    rows = {key: number for number, key in enumerate(keys, 1)}
    first = merged(tmp_path / "db", [], dict(list(rows.items())[:40_000]), [])
    run = merged(tmp_path / "db", [first], dict(list(rows.items())[40_000:]), [], 7_000)
    near = [key[:15] + bytes([key[15] ^ 1]) for key in keys] + [
        key[:7] + bytes([key[7] ^ 1]) + key[8:] for key in keys
    ]
    assert found(run, keys + near) == rows


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1), st.integers(16, 32))
def test_the_first_half_of_a_key_is_whole_again_after_it_was_split(heads: list[int], bits: int) -> None:
    layout = Layout(10, bits, 4)
    column = np.array(heads, np.uint64)
    assert layout.join(*layout.split(column)).tolist() == heads


def test_a_directory_has_eight_to_sixteen_keys_a_bucket() -> None:
    for room in (2_000_000, 10_000_000, 1 << 28):
        assert 8 <= room / (1 << Layout.of(room, 1).bits) <= 16
    assert Layout.of(0, 1).bits == 16
    with pytest.raises(ValueError, match="too many for one run"):
        Layout.of(1 << 32, 1)


def test_a_damaged_run_is_refused(tmp_path: Path) -> None:
    run = merged(tmp_path / "db", [], {bytes(16): 1}, [])
    path = run_path(tmp_path / "db", run.number)
    whole = path.read_bytes()
    fewer = bytearray(whole)
    fewer[24] = 0  # says that it holds no keys: the directory knows of one
    for broken in (whole[:-1], whole[:10], b"x" + whole[1:], whole[:4096], b"", whole + b"x", bytes(fewer)):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="not a whole run") as refused:
            KeyRun(path, run.number)
        assert str(path) in str(refused.value) and not isinstance(refused.value, OldFormat)
    path.write_bytes(whole)
    with pytest.raises(ValueError, match="not a whole run"):
        KeyRun(path, run.number + 1)
    path.write_bytes(b"NCKEYS01" + whole[8:])
    with pytest.raises(OldFormat):
        KeyRun(path, run.number)


def test_a_draft_leaves_nothing_behind(tmp_path: Path) -> None:
    merge = Merge(tmp_path / "db", 7, [], Rows.of([bytes(16)], [1]), np.empty(0, np.uint64), 1)
    assert [path.name.split("-")[2] for path in tmp_path.iterdir()] == ["draft"]
    merge.abandon()
    merge.abandon()
    assert list(tmp_path.iterdir()) == []
    merge = Merge(tmp_path / "db", 7, [], Rows.of([bytes(16)], [1]), np.empty(0, np.uint64), 1)
    assert merge.step(1)
    run = merge.finish_unnamed()
    assert list(tmp_path.iterdir()) == [] and found(run, [bytes(16)]) == {bytes(16): 1}


def test_a_head_holds_the_names_of_some_hundred_runs() -> None:
    layout = Layout.of(1, 1)
    chain = tuple(range(1, 501))
    page = Header(1, layout, 1, 1, chain).packed().ljust(4096, b"\0")
    assert Header.read(page, layout.size, 1).beneath == chain
    with pytest.raises(ValueError, match="do not fit"):
        Header(1, layout, 1, 1, tuple(range(600))).packed()


def test_the_name_of_a_run_says_whose_it_is(tmp_path: Path) -> None:
    assert run_path(tmp_path / "frontier.sqlite", 255).name == "frontier.sqlite-keys-00000000000000ff"
