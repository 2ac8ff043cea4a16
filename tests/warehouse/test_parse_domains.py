"""Several domains parsed in a row: the rows of each alone, and the trouble of one is no other's."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resources.warehouse.parse import ParseError, ParseReport, ParserPool, parse_domain, parse_domains
from resources.warehouse.parse.batch import Batch, batches_of
from resources.warehouse.parse.messages import Chunk
from resources.warehouse.parse.step import DomainStep
from resources.warehouse.storage.folder import FolderTables
from tests.warehouse.shop import SITE, Shop, lamp_page

#: Pages by domain: more than a chunk, less than the smallest, none.
PAGES = {"a.example": 60, "b.example": 3, "empty.example": 0, "c.example": 90, "d.example": 30}
TABLES = ("parsed", "pages", "links", "structured_data", "rejected_items", "item.lamp", "gone")


@pytest.fixture
def shops(shop: Shop) -> Shop:
    shop.site("shops", {**SITE, "domains": list(PAGES)})
    for domain, count in PAGES.items():
        for number in range(count):
            price = "£5.00" if number % 7 else "no number"
            shop.put(f"/lamp/{number}", lamp_page(f"L{number}", price), domain)
    return shop


@pytest.fixture
def pool(shops: Shop) -> Iterator[ParserPool]:
    with ParserPool(shops.installation, shops.installation.catalog(), 2) as pool:
        yield pool


def whole(outcome: ParseReport | Exception) -> ParseReport:
    assert isinstance(outcome, ParseReport), outcome
    return outcome


def staged(shop: Shop, domain: str, run: str) -> dict[str, list[Any]]:
    """Rows by table, whatever the files they are in."""
    folder = shop.installation.open_tables().folders.staging_of(domain)
    (batch,) = [batch for batch in batches_of(folder) if batch.run_id == run]
    found = {}
    for table in TABLES:
        files = [pq.read_table(path) for path in batch.files(table)]
        rows = pa.concat_tables(files, promote_options="permissive").to_pylist() if files else []
        for row in rows:
            row.pop("run_id", None)
        found[table] = sorted(rows, key=repr)
    return found


def batches(shop: Shop, domain: str) -> list[Batch]:
    return batches_of(shop.installation.open_tables().folders.staging_of(domain))


def test_domains_in_a_row_give_the_rows_that_each_gives_alone(shops: Shop, pool: ParserPool) -> None:
    alone = {d: parse_domain(shops.installation, d, run_id="alone", pool=pool) for d in PAGES}
    together = dict(parse_domains(shops.installation, PAGES, run_id="together", pool=pool))
    assert together.keys() == PAGES.keys()
    for domain, outcome in together.items():
        report = whole(outcome)
        assert (report.parsed, report.rows) == (PAGES[domain], alone[domain].rows)
        assert bool(report.batch) == bool(PAGES[domain])
        if report.batch:
            assert staged(shops, domain, "together") == staged(shops, domain, "alone")


def test_a_domain_that_cannot_be_parsed_costs_the_others_nothing(
    shops: Shop, pool: ParserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1. no site file; 2. the disk fails; 3. children keep dying; 4. its pages cannot be listed to the end."""
    settle, chunk = FolderTables.settle, DomainStep.chunk

    def failing(tables: FolderTables, files: Iterable[Path]) -> None:
        paths = list(files)
        if any("a.example" in str(path) for path in paths):
            raise OSError("no space left")
        settle(tables, paths)

    def without_folder(step: DomainStep, size: int) -> Chunk | None:
        made = chunk(step, size)
        if made is not None and step.domain == "b.example":
            shutil.rmtree(made.folder)
        if made is not None and made.number == 1 and step.domain == "d.example":
            raise OSError("the disk is gone")
        return made

    monkeypatch.setattr(FolderTables, "settle", failing)
    monkeypatch.setattr(DomainStep, "chunk", without_folder)
    domains = ["unknown.example", *PAGES, "unknown.example"]
    outcomes = list(parse_domains(shops.installation, domains, run_id="r1", pool=pool))
    by_domain = dict(outcomes)
    assert len(outcomes) == len(by_domain) == len(PAGES) + 1
    told = {domain: str(found) for domain, found in outcomes if isinstance(found, Exception)}
    assert told.keys() == {"unknown.example", "a.example", "b.example", "d.example"}
    assert "no site file covers unknown.example" in told["unknown.example"]
    assert told["a.example"] == "no space left"
    assert "keep ending (exit status 1) while no page is being parsed" in told["b.example"]
    assert told["d.example"] == "the disk is gone"
    assert whole(by_domain["c.example"]).parsed == 90
    assert not any(batches(shops, domain) for domain in told)
    monkeypatch.undo()
    again = dict(parse_domains(shops.installation, PAGES, run_id="r2", pool=pool))
    assert {domain: whole(report).parsed for domain, report in again.items()} == PAGES


def test_a_child_that_is_killed_costs_a_page_at_most(shops: Shop, pool: ParserPool) -> None:
    reports: list[ParseReport] = []
    for _, outcome in parse_domains(shops.installation, PAGES, run_id="r1", pool=pool):
        if not reports:
            os.kill(pool.pids()[0], signal.SIGKILL)
        reports.append(whole(outcome))
    assert {report.domain: report.parsed for report in reports} == PAGES
    assert sum(len(report.lost) for report in reports) <= 1
    for report in reports:
        assert report.rows.get("pages", 0) == PAGES[report.domain]


def test_asked_to_stop_all_ends_and_what_was_given_stays(shops: Shop, pool: ParserPool) -> None:
    course = parse_domains(shops.installation, PAGES, run_id="r1", pool=pool)
    first, _ = next(course)
    pool.stop.set()
    given = {first}
    with pytest.raises(ParseError, match="asked to stop"):
        given.update(domain for domain, _ in course)
    assert len(given) < len(PAGES)
    assert {domain for domain in PAGES if batches(shops, domain)} <= given
    pool.stop.clear()
    assert parse_domain(shops.installation, "c.example", run_id="r2", pool=pool).parsed == 90


def test_a_pool_is_free_again_when_the_iterator_is_closed(shops: Shop, pool: ParserPool) -> None:
    course = parse_domains(shops.installation, PAGES, run_id="r1", pool=pool)
    next(course)
    with pytest.raises(RuntimeError, match="another run"):
        parse_domain(shops.installation, "c.example", run_id="r2", pool=pool)
    course.close()
    assert parse_domain(shops.installation, "c.example", run_id="r3", pool=pool).parsed == 90
