"""Values made by `record` behave as frozen dataclasses do, but for the check at run time."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, fields, replace
from typing import Any

from resources.frontier.base import Discovery
from resources.record import record


@record(slots=True, frozen=True)
class Point:
    x: int
    y: int = 2


def test_records_are_equal_and_hashed_by_value() -> None:
    assert Point(1) == Point(1, 2) and hash(Point(1)) == hash(Point(1, 2))
    assert Point(1) != Point(2)
    assert len({Point(1), Point(1, 2), Point(3)}) == 2


def test_they_are_slotted_and_told_by_their_fields() -> None:
    assert not hasattr(Point(1), "__dict__")
    assert repr(Point(1)) == "Point(x=1, y=2)"
    assert [field.name for field in fields(Point)] == ["x", "y"]
    assert replace(Point(1), y=5) == Point(1, 5)


def test_they_cross_to_another_process_and_are_copied() -> None:
    found = Discovery(b"k" * 16, "http://a.example/", "a.example")
    assert pickle.loads(pickle.dumps(found)) == found
    assert copy.copy(found) == found


def test_a_frozen_dataclass_hashes_the_same() -> None:
    frozen: Any = dataclass(slots=True, frozen=True)(type("P", (), {"__annotations__": {"x": int, "y": int}}))
    assert hash(frozen(1, 2)) == hash(Point(1, 2))
