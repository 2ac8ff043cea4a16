"""Facts of a night from the published tables, and from the frontier what no load has taken over yet. Only reads.

Costs: a handful of aggregations over the night's rows of the fetch log; memory does not grow with them, except for
rows that are still in the frontier (nothing was loaded tonight), which are read in stretches into columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources

import duckdb
import pyarrow as pa

from resources.crawler.taxonomy import failure_kind
from resources.frontier.base import FetchLogRow, Frontier
from resources.installation import Installation
from resources.named_sql import split_named
from resources.pacing.ledger.base import LedgerRow
from resources.planner.forecast import Actual, compare
from resources.planner.night import NightPlan
from resources.reports.facts import (
    Bucket,
    DomainNight,
    ErrorClass,
    Fallen,
    Finding,
    Mended,
    NightFacts,
    NightTotal,
    QueuePoint,
    RunFacts,
    TableChange,
)
from resources.warehouse.read import NothingPublished, published
from resources.warehouse.statements import identifier, read_script

__all__ = ["BUCKETS", "read_night"]

#: Most points of a chart: one every four pixels of a phone.
BUCKETS = 80
_BUCKET_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)
#: Loads take seconds; whoever waits longer for the warehouse waits for one that parses a whole corpus again.
WAIT_S = 120.0
#: Rows of the frontier's log read at once.
_CHUNK = 50_000

_LOG = pa.schema(
    [("url", pa.string()), ("domain", pa.string()), ("run_id", pa.string()), ("started_at", pa.timestamp("us", tz="UTC")),
     ("ttfb_ms", pa.float64()), ("status", pa.int32()), ("outcome", pa.string()), ("wire_bytes", pa.int64()),
     ("cause", pa.string())]
)  # fmt: skip


def read_night(
    installation: Installation,
    night: str,
    runs: Sequence[RunFacts],
    domains: Sequence[str],
    *,
    made_at: float,
    fallen: Sequence[Fallen] = (),
    findings: Sequence[Finding] = (),
    stopped: Sequence[str] = (),
    mended: Sequence[Mended] = (),
    queue: Sequence[QueuePoint] = (),
    plan: NightPlan | None = None,
    zone: str = "UTC",
) -> NightFacts:
    """The facts of `night`: its `runs` over `domains`, and what the caller knows of checks and failures."""
    statements = split_named(
        resources.files(__package__).joinpath("night.sql").read_text("utf-8"), "night.sql"
    )
    started = min((r.started_at for r in runs), default=made_at)
    ended = max((r.ended_at for r in runs), default=made_at)
    ledger = installation.open_ledger()
    try:
        paces = {row.domain: row for row in ledger.all()}
    finally:
        ledger.close()
    frontier = installation.open_frontier()
    try:
        with _tables(installation) as connection:
            # A run that ended well has published all it saw; of another one rows may wait in the warehouse.
            cut_short = any(r.status != "SUCCESS" for r in runs)
            run_ids = [r.run_id for r in runs]
            waiting = _unpublished(installation, run_ids) if cut_short else _LOG.empty_table()
            _night_log(connection, frontier, run_ids, waiting)
            numbers, ends = _domains(connection, statements)
            first, last = connection.execute(statements["span"]).fetchone() or (None, None)
            bucket_s, buckets = _buckets(connection, statements, first, last)
            tables = _changes(connection, statements, started)
            errors = _errors(connection, statements, started)
            history = [
                NightTotal(*row) for row in connection.execute(statements["history"], [night]).fetchall()
            ]
            states = {row[0]: row[1:] for row in connection.execute(statements["states"]).fetchall()}
        shown = [
            _standing(frontier, numbers.get(d, DomainNight(d)), states.get(d), paces.get(d)) for d in domains
        ]
    finally:
        frontier.close()
    failed = {f.domain for f in fallen} | set(stopped)
    actuals = {
        d.domain: Actual(d.domain, d.requests, d.wire_bytes, ends.get(d.domain), d.domain in failed)
        for d in shown
    }
    return NightFacts(
        night=night,
        made_at=made_at,
        started_at=started,
        ended_at=ended,
        runs=tuple(runs),
        bucket_s=bucket_s,
        buckets=tuple(buckets),
        queue=tuple(queue),
        errors=tuple(errors),
        domains=tuple(sorted(shown, key=lambda d: (-d.requests, d.domain))),
        tables=tuple(tables),
        fallen=tuple(fallen),
        findings=tuple(findings),
        stopped=tuple(stopped),
        mended=tuple(mended),
        comparison=compare(plan, actuals, ended) if plan is not None else None,
        history=tuple(reversed(history)),
        zone=zone,
    )


@contextmanager
def _tables(installation: Installation) -> Iterator[duckdb.DuckDBPyConnection]:
    """The published tables, or empty ones of the same shape before anything was ever published."""
    try:
        with published(installation) as connection:
            yield connection
            return
    except NothingPublished:
        pass
    connection = duckdb.connect()
    try:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(read_script("tables.sql"))
        yield connection
    finally:
        connection.close()


_COLUMNS = (
    "url, domain, run_id, started_at, ttfb_ms, status, outcome, wire_bytes, coalesce(cause, '') AS cause"
)


def _night_log(
    connection: duckdb.DuckDBPyConnection, frontier: Frontier, run_ids: Sequence[str], waiting: pa.Table
) -> None:
    """Make the table `log`: rows of these runs, published, loaded (`waiting`) or still in the frontier."""
    connection.register("left_over", _left_over(frontier, frozenset(run_ids)))
    connection.register("waiting", waiting)
    connection.register("night_runs", pa.table({"run_id": pa.array(run_ids, pa.string())}))
    # The loader leaves rows of the last minutes in the frontier: what is in two places is equal, and UNION takes it once.
    connection.execute(
        f"CREATE TEMP TABLE log AS SELECT {_COLUMNS} FROM fetch_log WHERE run_id IN (SELECT run_id FROM night_runs) "
        f"UNION SELECT {_COLUMNS} FROM left_over UNION SELECT {_COLUMNS} FROM waiting"
    )


def _unpublished(installation: Installation, run_ids: Sequence[str]) -> pa.Table:
    """Rows of these runs that are loaded: a run that was stopped may not have come to publishing them.

    Raises WarehouseBusy when somebody loads for longer than `WAIT_S`: a report without them would be wrong.
    """
    tables = installation.open_tables()
    if not tables.exists():
        return _LOG.empty_table()
    with tables.warehouse(WAIT_S) as warehouse:
        marks = ", ".join("?" * len(run_ids))
        found = warehouse.connection.execute(
            f"SELECT {_COLUMNS} FROM fetch_log WHERE run_id IN ({marks})", list(run_ids)
        )
        stretches = []
        while rows := found.fetchmany(_CHUNK):
            columns = [pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), _LOG, strict=True)]
            stretches.append(pa.RecordBatch.from_arrays(columns, schema=_LOG))
    return pa.Table.from_batches(stretches, schema=_LOG)


def _left_over(frontier: Frontier, run_ids: frozenset[str]) -> pa.Table:
    stretches: list[pa.RecordBatch] = []
    after = 0
    while rows := frontier.read_log(after, _CHUNK):
        after = rows[-1][0]
        wanted = [row for _, row in rows if row.run_id in run_ids]
        columns = [pa.array([_value(row, f.name) for row in wanted], f.type) for f in _LOG]
        stretches.append(pa.RecordBatch.from_arrays(columns, schema=_LOG))
    return pa.Table.from_batches(stretches, schema=_LOG)


def _value(row: FetchLogRow, name: str) -> object:
    """As the loader writes it: instants are rounded to the microsecond."""
    return round(row.started_at * 1_000_000) if name == "started_at" else getattr(row, name)


def _domains(
    connection: duckdb.DuckDBPyConnection, statements: Mapping[str, str]
) -> tuple[dict[str, DomainNight], dict[str, float]]:
    """(numbers of each domain that did anything, when its last request went out)."""
    found: dict[str, DomainNight] = {}
    ends: dict[str, float] = {}
    for row in connection.execute(statements["domains"]).fetchall():
        domain, requests, pages, unchanged, throttled, forbidden, walls, errors, size, p95, end = row
        found[domain] = DomainNight(
            domain, requests=requests, pages=pages, unchanged=unchanged, throttled=throttled, forbidden=forbidden,
            walls=walls, errors=errors, wire_bytes=size, p95_ttfb_ms=p95,
        )  # fmt: skip
        if end is not None:
            ends[domain] = end
    return found, ends


def _standing(
    frontier: Frontier, numbers: DomainNight, state: tuple[object, ...] | None, pace: LedgerRow | None
) -> DomainNight:
    """`numbers` with where the domain stands now: the frontier and the ledger know it better than a snapshot."""
    counts = frontier.counts(numbers.domain)
    stale, reason = (bool(state[-2]), str(state[-1])) if state is not None else (False, "")
    return replace(
        numbers,
        site=str(state[0] or "") if state is not None else "",
        pending=counts.pending + counts.leased,
        failed_urls=counts.failed,
        rate=pace.rate if pace is not None else None,
        limit_rate=pace.limit_rate if pace is not None else None,
        rate_reason="; ".join(pace.reasons) if pace is not None else "",
        paused_cause=pace.paused_cause if pace is not None else "",
        stale=stale,
        stale_reason=reason,
    )


def _buckets(
    connection: duckdb.DuckDBPyConnection,
    statements: Mapping[str, str],
    first: float | None,
    last: float | None,
) -> tuple[float, list[Bucket]]:
    """(seconds of a bucket, buckets without gaps) from the first request to the last."""
    if first is None or last is None:
        return 60.0, []
    size = next((s for s in _BUCKET_SECONDS if (last - first) / s < BUCKETS), _BUCKET_SECONDS[-1])
    start = first - first % size
    rows = {int(p): n for p, *n in connection.execute(statements["buckets"], [size, start]).fetchall()}
    end = int((last - start) // size)
    # An empty one on either side: the curve begins and ends on the ground, also where one bucket holds the night.
    return float(size), [Bucket(start + i * size, *rows.get(i, ())) for i in range(-1, end + 2)]


def _errors(
    connection: duckdb.DuckDBPyConnection, statements: Mapping[str, str], started: float
) -> list[ErrorClass]:
    dead = dict(connection.execute(statements["dead_letters"], [started]).fetchall())
    return [
        ErrorClass(cause, requests, domains, dead.get(cause, 0), failure_kind(cause).mend)
        for cause, requests, domains in connection.execute(statements["errors"]).fetchall()
    ]


def _changes(
    connection: duckdb.DuckDBPyConnection, statements: Mapping[str, str], started: float
) -> list[TableChange]:
    """Every table that rows are counted of, pages and items first."""
    counts = {
        name: (int(before or 0), int(now or 0))
        for name, before, now in connection.execute(statements["row_counts"], [started]).fetchall()
    }
    dated = [name for (name,) in connection.execute(statements["dated_tables"]).fetchall()]
    found = []
    for name in sorted(counts, key=lambda n: (n != "pages", n not in dated, n)):
        before, now = counts[name]
        if name not in dated:
            found.append(TableChange(name, before, now))
            continue
        new, changed = connection.execute(
            f"SELECT count(*) FILTER (first_seen_at >= to_timestamp($1)), "
            f"count(*) FILTER (changed_at >= to_timestamp($1) AND first_seen_at < to_timestamp($1)) "
            f"FROM {identifier(name)}",
            [started],
        ).fetchone() or (0, 0)
        if name == "pages":
            (gone,) = connection.execute(statements["gone_pages"], [started]).fetchone() or (0,)
        else:
            gone = max(0, before + new - now)
        found.append(TableChange(name, before, now, new, changed, gone))
    return found
