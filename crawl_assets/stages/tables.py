"""`pages`, `links`, `items`: stored bodies into rows. One parse reads each changed body once and fills all three.

No request is made here. Only pages whose body, parser or extraction rules changed are parsed again; the rows are
staged as files, in a folder or on an object store, and loaded into the warehouse in one short transaction per domain,
one loader at a time on all machines (a lock of the kernel or a lease, which a killed process cannot leave behind).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from crawl_assets.partitions import domains
from crawl_assets.stages.columns import item_schema, lineage
from crawl_assets.stages.night import Night
from crawl_assets.stages.raw import ASSET as RAW
from crawl_assets.stages.reading import reading
from resources.extract.version import PARSER_VERSION
from resources.warehouse.statements import identifier

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    import duckdb

    from resources.warehouse.load.load import DomainLoad, LoadReport
    from resources.warehouse.parse.report import ParseReport
    from resources.warehouse.publish.audit import AuditProblem
    from resources.warehouse.publish.changes import TableChange

__all__ = ["ITEMS", "LINKS", "PAGES", "SPECS", "TABLES", "Audited", "TableMaker"]

PAGES, LINKS, ITEMS = "pages", "links", "items"
TABLES = (PAGES, LINKS, ITEMS)

#: Bumped with the parser: stored rows of another version are shown as unsynced and read again from the page store.
CODE_VERSION = f"parser-{PARSER_VERSION}"
#: Rows of a table shown in the UI.
PREVIEWED = 5


def _spec(key: str, first_line: str, more: str) -> dg.AssetSpec:
    return dg.AssetSpec(
        key,
        deps=[RAW, "site_files"],
        description=(
            f"{first_line}\n\n{more}\n\n**When red:** the failed run names the domain and the reason. A failed audit "
            "check keeps last night's rows published: look at `rejected_items` and at the canary pages, mend the "
            "selectors in the site file, and the tables are made again without a request."
        ),
        group_name="6_tables",
        kinds={"duckdb", "table", "silver"},
        partitions_def=domains,
        skippable=True,
        owners=["team:data"],
        code_version=CODE_VERSION,
    )


SPECS = (
    _spec(
        PAGES,
        "One row per current page.",
        "Title, description, language, text length, hash, and when it changed.",
    ),
    _spec(
        LINKS, "One row per page and target.", "Every link found on current pages, with anchor text and rel."
    ),
    _spec(
        ITEMS,
        "The items of the site file, one table per item type.",
        "A row that fails its type or a required field goes to `rejected_items` with the reason.",
    ),
)


@dataclass(frozen=True, slots=True)
class Audited:
    """What the audit of a domain found, and what the checks plot."""

    problems: tuple[AuditProblem, ...]
    rows: Mapping[str, int]
    rejected: int
    previews: Mapping[str, str]
    columns: Mapping[str, dg.TableSchema]
    changes: Sequence[TableChange]
    """What publishing the domain would change."""


class TableMaker:
    """Parses and loads domains of one run. Use as a context manager; children and threads end with it."""

    def __init__(self, night: Night) -> None:
        from resources.warehouse.parse.pool import ParserPool

        self._night = night
        # Children take whole cores; the fetch loop of the same run needs one too.
        processes = max(1, min(4, (os.cpu_count() or 2) - 1))
        self._pool = ParserPool(night.installation, night.catalog, processes)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nightcrawl-tables")

    def __enter__(self) -> TableMaker:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.stop.set()
        self._thread.shutdown(wait=True)
        self._pool.close(at_once=True)

    async def parse(self, chosen: Sequence[str]) -> dict[str, ParseReport]:
        """Stage changed pages; without the domains that fell, or were not come to when the run was asked to stop."""
        loop = asyncio.get_running_loop()
        outcomes: dict[str, ParseReport | Exception] = {}
        work = loop.run_in_executor(self._thread, self._parse, chosen, outcomes)
        stopping = asyncio.ensure_future(self._night.stop.wait())
        try:
            both: set[asyncio.Future[Any]] = {work, stopping}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self._pool.stop.set()
            await work
        except Exception as error:
            outcomes.update((domain, error) for domain in chosen if domain not in outcomes)
        finally:
            stopping.cancel()
        parsed: dict[str, ParseReport] = {}
        for domain, outcome in outcomes.items():
            if not isinstance(outcome, Exception):
                parsed[domain] = outcome
            elif self._night.stop.is_set():
                self._night.unfinished.add(domain)
            else:
                self._night.fall(domain, PAGES, f"parsing failed: {outcome}")
        return parsed

    def _parse(self, chosen: Sequence[str], outcomes: dict[str, ParseReport | Exception]) -> None:
        from resources.warehouse.parse.domain import parse_domains

        night = self._night
        for domain, outcome in parse_domains(
            night.installation, chosen, run_id=night.run_id, force=night.config.parse_all, pool=self._pool
        ):
            outcomes[domain] = outcome

    async def load(self, parsed: Mapping[str, ParseReport]) -> dict[str, tuple[DomainLoad, Audited]]:
        """Load and audit the domains together; those that fail fall."""
        from resources.warehouse.connection import WarehouseError

        loop = asyncio.get_running_loop()
        try:
            report, audited = await loop.run_in_executor(self._thread, self._load, list(parsed))
        except WarehouseError as error:
            for domain in parsed:
                self._night.fall(domain, PAGES, str(error))
            return {}
        for domain, words in report.failed.items():
            self._night.fall(domain, PAGES, f"loading failed: {words}")
        for warning in report.warnings:
            self._night.say(f"item tables: {warning}")
        # Asked to stop: what was not come to is staged, and loaded by the next run.
        self._night.unfinished.update(d for d in parsed if d not in audited and d not in report.failed)
        return {d: (report.domains[d], audited[d]) for d in parsed if d in audited}

    def _load(self, chosen: Sequence[str]) -> tuple[LoadReport, dict[str, Audited]]:
        from resources.warehouse.item_tables import item_types
        from resources.warehouse.load.load import load_domains
        from resources.warehouse.publish.changes import changes

        night = self._night

        def go_on() -> bool:
            return not night.stop.is_set()

        report = load_domains(
            night.installation, chosen, run_id=night.run_id, catalog=night.catalog, go_on=go_on
        )
        with night.installation.open_tables().warehouse() as warehouse:
            connection = warehouse.connection
            published = None
            if last_night := warehouse.published():
                path = str(last_night).replace("'", "''")
                connection.execute(f"ATTACH '{path}' AS last_night (READ_ONLY)")
                published = "last_night"
            kinds = item_types(connection)
            columns = {t: _schema(connection, t) for t in (PAGES, LINKS, *kinds)}
            audited: dict[str, Audited] = {}
            whole = [d for d, loaded in report.domains.items() if not loaded.error] if go_on() else []
            changed = changes(connection, whole, published)
            for domain in whole:
                if not go_on():
                    break
                loaded = report.domains[domain]
                audited[domain] = self._audited(
                    connection, domain, loaded, published, kinds, columns, changed[domain]
                )
            return report, audited

    def _audited(
        self,
        connection: duckdb.DuckDBPyConnection,
        domain: str,
        load: DomainLoad,
        published: str | None,
        kinds: Sequence[str],
        columns: Mapping[str, dg.TableSchema],
        changed: Sequence[TableChange],
    ) -> Audited:
        from resources.warehouse.publish.audit import audit

        problems = audit(connection, domain, self._night.catalog.for_domain(domain), published=published)
        shown = {PAGES: "url, status, title", LINKS: "from_url, to_url, anchor"}
        previews = {t: _preview(connection, t, domain, shown.get(t, "*")) for t in (PAGES, LINKS, *kinds)}
        rows = dict(load.tables)
        return Audited(tuple(problems), rows, rows.get("rejected_items", 0), previews, columns, changed)

    async def tell(self, domain: str, parse: ParseReport, load: DomainLoad, audited: Audited) -> None:
        """Materialize the selected tables of one domain."""
        night = self._night
        raw_version = await night.latest_version(RAW, domain) or ""
        tags = {
            "dagster/code_version": CODE_VERSION,
            "dagster/data_version": f"{raw_version[:16]}-{parse.extraction_version}-{PARSER_VERSION}",
            "dagster/input_data_version/raw_html": raw_version,
            "dagster/input_data_version/site_files": parse.extraction_version,
        }
        kinds = [t for t in audited.previews if t not in (PAGES, LINKS)]
        shared: dict[str, Any] = {
            "parsed": parse.parsed,
            "unchanged": parse.unchanged,
            "gone": parse.gone,
            "parse s": round(parse.seconds, 3),
            "pages lost to the parser": len(parse.lost),
        }
        for table in (PAGES, LINKS):
            if night.does(table):
                numbers = shared | {
                    "dagster/partition_row_count": audited.rows.get(table, 0),
                    "dagster/table_name": table,
                    "dagster/column_schema": audited.columns[table],
                    "dagster/column_lineage": lineage(c.name for c in audited.columns[table].columns),
                    **reading(table, domain),
                    "preview": dg.MetadataValue.md(audited.previews[table]),
                }
                await night.materialized(table, domain, numbers, tags)
        if night.does(ITEMS):
            numbers = shared | {
                "dagster/partition_row_count": sum(audited.rows.get(k, 0) for k in kinds),
                "rejected items": audited.rejected,
                **{f"rows {k}": audited.rows.get(k, 0) for k in kinds},
                "preview": dg.MetadataValue.md(
                    "\n\n".join(f"**{k}**\n\n{audited.previews[k]}" for k in kinds) or "no item types"
                ),
            }
            if kinds:
                schema, sources = item_schema({k: audited.columns[k] for k in kinds})
                numbers |= {
                    "dagster/column_schema": schema,
                    "dagster/column_lineage": sources,
                    **reading(kinds[0], domain),
                }
            await night.materialized(ITEMS, domain, numbers, tags)


def _schema(connection: duckdb.DuckDBPyConnection, table: str) -> dg.TableSchema:
    rows = connection.execute(
        "SELECT column_name, data_type, comment, is_nullable FROM duckdb_columns() "
        "WHERE database_name = current_database() AND schema_name = 'main' AND table_name = ? ORDER BY column_index",
        [table],
    ).fetchall()
    return dg.TableSchema(
        [
            dg.TableColumn(
                name,
                type=kind,
                description=comment,
                constraints=dg.TableColumnConstraints(nullable=bool(nullable)),
            )
            for name, kind, comment, nullable in rows
        ]
    )


def _preview(connection: duckdb.DuckDBPyConnection, table: str, domain: str, columns: str) -> str:
    found = connection.execute(
        f"SELECT {columns} FROM {identifier(table)} WHERE domain = ? LIMIT {PREVIEWED}", [domain]
    )
    names = [d[0] for d in found.description or []]
    lines = ["| " + " | ".join(names) + " |", "| " + " | ".join("---" for _ in names) + " |"]
    for row in found.fetchall():
        lines.append("| " + " | ".join(_cell(value) for value in row) + " |")
    return "\n".join(lines)


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return text.replace("|", "\\|").replace("\n", " ")[:120]
