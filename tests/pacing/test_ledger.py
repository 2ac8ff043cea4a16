"""One contract, every back-end."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from resources.pacing.ledger.base import Command, Ledger, LedgerError, LedgerRow, NightRow, merge
from resources.pacing.ledger.memory import MemoryLedger
from resources.pacing.ledger.move import move_ledger
from resources.pacing.ledger.open import open_ledger
from resources.pacing.ledger.sqlite import SqliteLedger
from tests.fleet.servers import postgres_place, redis_place

Make = Callable[[Path], Ledger]


@pytest.fixture(
    params=[
        lambda path: MemoryLedger(),
        lambda path: SqliteLedger(path / "ledger.db"),
        lambda path: open_ledger(redis_place(path)),
        lambda path: open_ledger(postgres_place(path)),
    ],
    ids=["memory", "sqlite", "redis", "postgres"],
)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    made = request.param(tmp_path)
    yield made
    made.close()


def row(domain: str = "a.example", at: float = 1.0, **more: object) -> LedgerRow:
    return LedgerRow(domain=domain, updated_at=at, **more)  # type: ignore[arg-type]


def test_a_row_comes_back_as_it_was(ledger: Ledger) -> None:
    saved = row(
        rate=19.6, limit_rate=20.0, limit_burst=6.0, owed_until=5.0, reasons=("learned rate: 19.6 r/s",)
    )
    ledger.save([saved, row("b.example")])
    assert ledger.load("a.example") == saved
    assert ledger.load("c.example") is None
    assert [item.domain for item in ledger.all()] == ["a.example", "b.example"]


def test_an_older_row_never_replaces_a_newer_one_and_debts_stay(ledger: Ledger) -> None:
    ledger.save([row(at=2.0, rate=5.0, owed_until=10.0)])
    ledger.save([row(at=1.0, rate=9.0, owed_until=50.0)])
    kept = ledger.load("a.example")
    assert kept is not None and kept.rate == 5.0 and kept.owed_until == 50.0
    assert merge(row(at=1.0), row(at=2.0)) == merge(row(at=2.0), row(at=1.0))


def test_history_is_by_night_and_a_repeated_night_replaces(ledger: Ledger) -> None:
    first = NightRow("a.example", "2024-05-01", 1.0, 2.0, requests=10)
    second = NightRow("a.example", "2024-05-02", 3.0, 4.0, requests=20, paused_cause="wall")
    ledger.append_history([second, first])
    again = NightRow("a.example", "2024-05-02", 3.0, 5.0, requests=25)
    ledger.append_history([again])
    assert ledger.history("a.example") == [first, again]
    assert ledger.history("b.example") == []


def test_commands_are_numbered_and_read_from_where_one_was(ledger: Ledger) -> None:
    one = ledger.send(
        Command("a.example", "slow_down", 1.0, factor=0.5, until=9.0, reason="share of 429 rises")
    )
    two = ledger.send(Command("a.example", "resume", 2.0))
    assert two > one
    assert [command.kind for command in ledger.commands()] == ["slow_down", "resume"]
    assert [command.seq for command in ledger.commands(after=one)] == [two]


def test_sqlite_keeps_over_a_restart_and_names_a_file_it_cannot_use(tmp_path: Path) -> None:
    first = SqliteLedger(tmp_path / "ledger.db")
    first.save([row(rate=3.0)])
    second = SqliteLedger(tmp_path / "ledger.db")  # another process while the first is open
    found = second.load("a.example")
    assert found is not None and found.rate == 3.0
    first.close()
    second.close()
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(LedgerError, match=r"folder\.db"):
        SqliteLedger(tmp_path / "folder.db")


def test_a_failed_save_writes_nothing(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "ledger.db")

    def rows() -> Iterator[LedgerRow]:
        yield row("a.example")
        raise sqlite3.OperationalError("disk full")

    with pytest.raises(LedgerError, match="disk full"):
        ledger.save(rows())
    assert ledger.all() == []


def test_a_row_of_a_newer_version_is_still_read() -> None:
    text = row(rate=2.0).to_json().replace("{", '{"colour":"blue",', 1)
    assert LedgerRow.from_json(text) == row(rate=2.0)


def test_a_ledger_moves_with_its_nights_and_open_orders(ledger: Ledger) -> None:
    source = MemoryLedger()
    source.save([row(rate=5.0, command_seq=1), row("b.example", owed_until=9.0)])
    source.append_history([NightRow("a.example", "n1", 1.0, 2.0, requests=7)])
    source.send(Command("a.example", "pause", 1.0, reason="obeyed"))
    source.send(Command("a.example", "resume", 2.0))
    for _ in range(2):  # the second time only sends the open order again: it is a state, not a step
        assert move_ledger(source, ledger).rows == 2
        assert [item.rate for item in ledger.all()] == [5.0, None]
        assert ledger.history("a.example") == source.history("a.example")
        assert {command.kind for command in ledger.commands()} == {"resume"}
