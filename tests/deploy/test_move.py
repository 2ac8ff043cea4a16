"""`nightcrawl move`: grow up to Redis and come back, with every URL, state, pace and night."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crawl_assets.cli import app
from crawl_assets.commands.failures import report
from resources.frontier.base import Ack, Discovery, FetchLogRow, Verdict, WorkerBeat
from resources.installation import Installation
from resources.pacing.ledger.base import Command, LedgerRow, NightRow
from resources.pacing.ledger.memory import MemoryLedger
from resources.pacing.ledger.move import move_ledger
from tests.fleet.servers import RedisServer, s3_place
from tests.pages.samples import DOMAIN, article, version


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    started = RedisServer()
    yield started
    started.stop()


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    for name in ("FRONTIER", "PAGES", "LEDGER", "TABLES", "CONTACT"):
        monkeypatch.delenv(f"NIGHTCRAWL_{name}", raising=False)
    monkeypatch.setenv("NIGHTCRAWL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NIGHTCRAWL_SITES", str(tmp_path / "sites"))
    monkeypatch.chdir(tmp_path)
    return Installation.from_environment().prepare()


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        assert isinstance(result.exception, Exception)
        return report(result.exception), result.output
    return result.exit_code, result.output


def fill(installation: Installation, *, log: bool) -> None:
    frontier, ledger = installation.open_frontier(), installation.open_ledger()
    urls = [Discovery(bytes([n] * 16), f"https://shop.example/{n}", "shop.example") for n in range(9)]
    frontier.enqueue(urls, 1.0)
    claims = frontier.claim("shop.example", 4, "w", 60, 2.0)
    row = FetchLogRow(claims[0].url, "shop.example", "r", "w", 1, 2.0, 1.0, 2.0, 200, "ok") if log else None
    frontier.commit(
        [
            Ack(claims[0], Verdict.DONE, 3.0, due_at=99.0, status=200, content_hash=b"x" * 16, log=row),
            Ack(claims[1], Verdict.FAILED, 3.0, cause="dns", detail="no such host"),
            Ack(claims[2], Verdict.RETRY, 3.0, not_before=50.0),
            Ack(claims[3], Verdict.EXCLUDED, 3.0, cause="robots"),
        ],
        3.0,
    )
    frontier.set_value("traps:shop.example", "{}")
    ledger.save([LedgerRow("shop.example", 5.0, rate=2.5, owed_until=77.0, command_seq=4)])
    ledger.append_history([NightRow("shop.example", f"2026-11-0{n}", 1.0, 2.0, requests=n) for n in (1, 2)])
    frontier.close()
    ledger.close()


def test_there_and_back(house: Installation, server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(house, log=False)
    before = house.open_frontier()
    rows, counts = list(before.records("shop.example")), before.counts("shop.example")
    before.close()
    address = f"{server.address}?namespace=there"
    code, out = run("move", "--to", address, "--json")
    assert code == 0, out
    assert json.loads(out)["urls"] == 9 and json.loads(out)["nights"] == 2

    monkeypatch.setenv("NIGHTCRAWL_FRONTIER", address)
    moved = Installation.from_environment()
    frontier, ledger = moved.open_frontier(), moved.open_ledger()
    assert list(frontier.records("shop.example")) == rows and frontier.counts("shop.example") == counts
    assert frontier.get_value("traps:shop.example") == "{}"
    row = ledger.load("shop.example")
    assert row is not None and (row.rate, row.owed_until) == (2.5, 77.0)
    assert [night.requests for night in ledger.history("shop.example")] == [1, 2]
    frontier.close()
    ledger.close()

    back = str(house.data / "back.sqlite")
    code, out = run("move", "--to", back)
    assert code == 0 and "moved and verified: 9 URLs of 1 domains" in out, out
    assert "not moved: reports in" in out and "--pages" not in out  # pages and tables were here all the time
    monkeypatch.setenv("NIGHTCRAWL_FRONTIER", back)
    home = Installation.from_environment().open_frontier()
    assert list(home.records("shop.example")) == rows
    home.close()


def test_pages_and_tables_go_to_s3_and_come_back(
    house: Installation, server: RedisServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill(house, log=False)
    pages, (prefix, _, query) = house.open_pages(), s3_place(tmp_path).partition("?")
    pages.put([version(f"/{n}", article(n)) for n in range(12)])
    pages.close()
    with house.open_tables().warehouse() as warehouse:
        warehouse.keep()  # empty, but there
    on_s3 = {name: f"{prefix}/{name.lower()}?{query}" for name in ("PAGES", "TABLES")}

    code, out = run("move", "--to", f"{server.address}?namespace=first")
    assert code == 0, out
    assert f"not moved: pages in {house.pages}: nightcrawl move --pages s3://" in out
    assert f"not moved: tables in {house.tables}: nightcrawl move --tables s3://" in out
    code, out = run("move", "--pages", on_s3["PAGES"], "--tables", on_s3["TABLES"])
    assert code == 0 and "moved and verified: 12 pages of 1 domains" in out, out
    assert f"from now on: NIGHTCRAWL_PAGES={on_s3['PAGES']} NIGHTCRAWL_TABLES={on_s3['TABLES']}" in out
    assert f"not moved: URLs and paces in {house.frontier}: nightcrawl move --to redis://" in out
    code, out = run("move", "--pages", on_s3["PAGES"])
    assert code == 0 and "12 pages, 12 there already" in out, out

    for name, place in on_s3.items():
        monkeypatch.setenv(f"NIGHTCRAWL_{name}", place)
    there = Installation.from_environment().open_pages()
    assert sorted(head.url for head in there.scan(DOMAIN)) == sorted(
        f"https://{DOMAIN}/{n}" for n in range(12)
    )
    there.close()
    back = str(tmp_path / "back.sqlite")
    code, out = run("move", "--pages", back, "--tables", str(tmp_path / "tables"), "--json")
    assert code == 0, out
    said = json.loads(out)
    assert said["pages"][DOMAIN]["written"] == 12 and said["tables"]["tables"] > 5
    assert run("move")[0] == run("move", "--pages", on_s3["PAGES"])[0] == 2


def test_nothing_moves_while_somebody_works_or_rows_are_in_no_table(
    house: Installation, server: RedisServer
) -> None:
    fill(house, log=True)
    address = f"{server.address}?namespace=refused"
    assert run("move", "--to", address)[0] == 3
    frontier = house.open_frontier()
    frontier.beat(WorkerBeat("w", "host", 1, time.time(), time.time()))
    frontier.close()
    assert run("move", "--to", address, "--without-log")[0] == 3
    assert run("move", "--to", house.frontier)[0] == 2


def test_orders_that_wait_are_obeyed_over_there_and_old_ones_are_not() -> None:
    old, new = MemoryLedger(), MemoryLedger()
    new.send(Command("other.example", "resume", 0.0))
    done = old.send(Command("a.example", "pause", 1.0))
    waits = Command("a.example", "slow_down", 2.0, 0.5, 99.0, "trend")
    old.send(waits)
    old.save([LedgerRow("a.example", 3.0, command_seq=done)])
    assert move_ledger(old, new).commands == 1
    row = new.load("a.example")
    assert row is not None
    assert [c for c in new.commands(row.command_seq) if c.domain == "a.example"] == [waits]
