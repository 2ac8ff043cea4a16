"""The audit: what must hold before tonight's rows of a domain may replace last night's.

Structural rules always hold or there is a defect: no row twice, every link and item from a current page. Rules
of quality come from the site file (`quality`): rows must not fall too far below the median of the last nights,
fields must stay filled, rejects must stay few. A domain without history passes the rules that need one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import duckdb

from resources.site.model import Site
from resources.warehouse.item_tables import item_types
from resources.warehouse.statements import identifier, read_statements

from .tables import KEYS, keys_of

__all__ = ["AuditProblem", "audit"]

_SQL = read_statements("audit.sql")
#: Fewer rows than this jump about for honest reasons: a fall is then no sign.
_FEW_ROWS = 20


@dataclass(frozen=True, slots=True)
class AuditProblem:
    """One rule that does not hold. `rule`: duplicate_rows, orphan_rows, row_drop, field_coverage, rejects, empty."""

    rule: str
    table: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.message}"


def audit(
    connection: duckdb.DuckDBPyConnection, domain: str, site: Site | None, *, published: str | None = None
) -> list[AuditProblem]:
    """All problems of the domain's rows in the warehouse on `connection`.

    `published`: name under which the published database is attached, for rules that compare with it.
    """
    problems = [*_structure(connection, domain)]
    if site is not None:
        problems += _drops(connection, domain, site)
        problems += _rejects(connection, domain, site)
        if published is not None:
            problems += _coverage(connection, domain, site, published)
    return problems


def _count(connection: duckdb.DuckDBPyConnection, sql: str, domain: str) -> int:
    row = connection.execute(sql, [domain]).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def _structure(connection: duckdb.DuckDBPyConnection, domain: str) -> Iterator[AuditProblem]:
    for table in [*(t for t, key in KEYS.items() if key), *item_types(connection)]:
        key = ", ".join(identifier(name) for name in keys_of(table))
        twice = _count(connection, _SQL["duplicates"].format(table=identifier(table), key=key), domain)
        if twice:
            yield AuditProblem(
                "duplicate_rows",
                table,
                f"{twice:,} keys ({key}) of {table} have several rows: a defect, please report it",
            )
    for table, column in (
        ("links", "from_url"),
        ("structured_data", "url"),
        *((t, "url") for t in item_types(connection)),
    ):
        orphans = _count(
            connection, _SQL["orphans"].format(table=identifier(table), column=identifier(column)), domain
        )
        if orphans:
            yield AuditProblem(
                "orphan_rows",
                table,
                f"{orphans:,} rows of {table} are of no current page: parse the domain anew with force",
            )


def _drops(connection: duckdb.DuckDBPyConnection, domain: str, site: Site) -> Iterator[AuditProblem]:
    allowed = site.quality.max_drop
    for table in ["pages", *site.items]:
        rows = connection.execute(_SQL["history"], [domain, table, site.quality.nights + 1]).fetchall()
        if len(rows) < 2:
            continue
        now, earlier = rows[0][0], median(count for (count,) in rows[1:])
        if earlier >= _FEW_ROWS and now < (1 - allowed) * earlier:
            yield AuditProblem(
                "row_drop", table,
                f"{table} has {now:,} rows, {1 - now / earlier:.0%} below the median of the last {len(rows) - 1} loads "
                f"({earlier:,.0f}); allowed is {allowed:.0%} (quality.max_drop)",
            )  # fmt: skip


def _rejects(connection: duckdb.DuckDBPyConnection, domain: str, site: Site) -> Iterator[AuditProblem]:
    for kind in site.items:
        if kind not in item_types(connection):
            continue
        row = connection.execute(_SQL["rejects"], [domain, kind]).fetchone()
        rejected, example = (int(row[0]), row[1]) if row else (0, "")
        good = _count(connection, _SQL["rows"].format(table=identifier(kind)), domain)
        share = rejected / (rejected + good) if rejected else 0.0
        if share > site.quality.max_rejects:
            yield AuditProblem(
                "rejects", kind,
                f"{rejected:,} of {rejected + good:,} items of {kind} were rejected ({share:.0%}; allowed is "
                f"{site.quality.max_rejects:.0%}, quality.max_rejects); most often: {example}. See rejected_items",
            )  # fmt: skip


def _coverage(
    connection: duckdb.DuckDBPyConnection, domain: str, site: Site, published: str
) -> Iterator[AuditProblem]:
    """Optional fields that used to be filled must still be."""
    there = {
        (table, column)
        for table, column in connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = ?", [published]
        ).fetchall()
    }
    for kind, rule in site.items.items():
        for name in rule.fields:
            if (kind, name) not in there:
                continue
            row = connection.execute(
                _SQL["coverage"].format(
                    table=identifier(kind), field=identifier(name), published=identifier(published)
                ),
                {"domain": domain},
            ).fetchone()
            if row is None or row[0] is None or row[1] is None or (row[2] or 0) < _FEW_ROWS:
                continue
            now, before = float(row[0]), float(row[1])
            if before >= site.quality.min_field_coverage > now:
                yield AuditProblem(
                    "field_coverage", kind,
                    f"{kind}.{name} is filled in {now:.0%} of the rows, was in {before:.0%}; at least "
                    f"{site.quality.min_field_coverage:.0%} is expected (quality.min_field_coverage): the layout may "
                    "have changed",
                )  # fmt: skip
