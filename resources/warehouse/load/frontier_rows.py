"""What frontier and ledger know, as tables: the fetch log, failed and excluded URLs, domains, nights."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import duckdb
import pyarrow as pa

from resources.crawler.taxonomy import failure_kind
from resources.crawler.traps.trust import advice
from resources.frontier.base import FetchLogRow, Frontier, State, UrlRecord
from resources.pacing.ledger.base import Ledger
from resources.site.catalog import Catalog
from resources.web.urls import url_without_credentials

__all__ = ["LOG_KEPT_S", "drain_log", "snapshot_domain", "trim_log"]

#: Rows of one transaction of the log: bounds memory, keeps each short.
_LOG_BATCH = 50_000
_SNAPSHOT_BATCH = 50_000
_TRIM_BATCH = 10_000
#: How long rows stay in the frontier's log after they are in the table: longer than any watcher looks back.
LOG_KEPT_S = 900.0
_TIME = pa.timestamp("us", tz="UTC")
_LOG_TYPES = {
    "url": pa.string(), "domain": pa.string(), "run_id": pa.string(), "worker": pa.string(), "attempt": pa.int32(),
    "started_at": _TIME, "ttfb_ms": pa.float64(), "duration_ms": pa.float64(), "status": pa.int32(),
    "outcome": pa.string(), "from_cache": pa.bool_(), "revalidated": pa.bool_(), "wire_bytes": pa.int64(),
    "body_bytes": pa.int64(), "retry_after_s": pa.float64(), "error": pa.string(), "cause": pa.string(),
    "redirect_to": pa.string(), "rule": pa.string(),
}  # fmt: skip
_FAILED = pa.schema(
    [("url", pa.string()), ("domain", pa.string()), ("cause", pa.string()), ("detail", pa.string()),
     ("status", pa.int32()), ("attempts", pa.int32()), ("depth", pa.int32()), ("failed_at", _TIME),
     ("next_eligible_at", _TIME), ("last_success_at", _TIME), ("discovered_at", _TIME), ("mend", pa.string())]
)  # fmt: skip
_EXCLUDED = pa.schema(
    [("url", pa.string()), ("domain", pa.string()), ("reason", pa.string()), ("detail", pa.string()),
     ("depth", pa.int32()), ("discovered_at", _TIME)]
)  # fmt: skip


def _micros(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000_000)


def _moment(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


# -- the fetch log -----------------------------------------------------------------------------------
def drain_log(connection: duckdb.DuckDBPyConnection, frontier: Frontier) -> tuple[int, int]:
    """Copy the log of all domains into `fetch_log`: (rows added, position reached). Idempotent by sequence number.

    Each batch and the position it reaches commit together; when that is durable, `trim_log` drops the rows.
    """
    name = _frontier_name(frontier)
    row = connection.execute("SELECT up_to FROM loading.log_position WHERE frontier = $1", [name]).fetchone()
    position = int(row[0]) if row else 0
    if row is None:
        connection.execute("INSERT INTO loading.log_position VALUES ($1, 0)", [name])
    added = 0
    while batch := frontier.read_log(position, _LOG_BATCH):
        position = batch[-1][0]
        connection.execute("BEGIN")
        try:
            _insert(connection, "fetch_log", _log_table([each for _, each in batch]))
            connection.execute(
                "UPDATE loading.log_position SET up_to = $1 WHERE frontier = $2", [position, name]
            )
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        added += len(batch)
    return added, position


def trim_log(frontier: Frontier, position: int) -> None:
    """Drop rows up to `position` that began more than `LOG_KEPT_S` ago: the trend sensor and `top` read them there."""
    old, limit = 0, time.time() - LOG_KEPT_S
    while rows := frontier.read_log(old, _TRIM_BATCH):
        gone = [number for number, row in rows if number <= position and row.started_at < limit]
        if gone:
            old = gone[-1]
            frontier.trim_log(old)
        if len(gone) < len(rows):
            return


def _frontier_name(frontier: Frontier) -> str:
    """A name that stays with this frontier: sequence numbers of a new one start over."""
    name = frontier.get_value("frontier_id")
    if name is None:
        name = uuid.uuid4().hex
        frontier.set_value("frontier_id", name)
    return name


def _log_table(rows: Sequence[FetchLogRow]) -> pa.Table:
    columns = {}
    for each in fields(FetchLogRow):
        values: list[Any] = [getattr(row, each.name) for row in rows]
        if each.name == "started_at":
            values = [_micros(value) for value in values]
        columns[each.name] = pa.array(values, _LOG_TYPES[each.name])
    return pa.table(columns)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: pa.Table) -> None:
    connection.register("incoming", rows)
    try:
        connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
    finally:
        connection.unregister("incoming")


# -- snapshots ---------------------------------------------------------------------------------------
def snapshot_domain(
    connection: duckdb.DuckDBPyConnection, frontier: Frontier, ledger: Ledger, catalog: Catalog, domain: str
) -> None:
    """Write failed and excluded URLs, the domain's row and its nights anew. The caller commits."""
    for table, state, schema in (
        ("failed_urls", State.FAILED, _FAILED),
        ("excluded_urls", State.EXCLUDED, _EXCLUDED),
    ):
        connection.execute(f"DELETE FROM {table} WHERE domain = $1", [domain])
        records = frontier.records(domain, (state,))
        read = _failed if state is State.FAILED else _excluded
        while rows := [read(record) for record in islice(records, _SNAPSHOT_BATCH)]:
            columns = [pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), schema, strict=True)]
            _insert(connection, table, pa.Table.from_arrays(columns, schema=schema))
    _domain_row(connection, frontier, ledger, catalog, domain)
    connection.execute("DELETE FROM nights WHERE domain = $1", [domain])
    nights = list(_nights(ledger, domain))
    if nights:
        marks = ", ".join("?" * len(nights[0]))
        connection.executemany(f"INSERT INTO nights VALUES ({marks})", nights)


def _failed(record: UrlRecord) -> tuple[Any, ...]:
    return (
        url_without_credentials(record.url), record.domain, record.cause, record.detail, record.status, record.attempts,
        record.depth, _micros(record.failed_at), _micros(record.next_eligible_at), _micros(record.done_at),
        _micros(record.discovered_at), failure_kind(record.cause).mend,
    )  # fmt: skip


def _excluded(record: UrlRecord) -> tuple[Any, ...]:
    # A URL that was excluded when met has one text for both: "scope: scope.exclude: /cart*".
    reason, _, rest = record.cause.partition(": ")
    detail = record.detail or rest
    if reason == "trap":
        detail = f"{detail}; {advice(record.cause)}"
    url = url_without_credentials(record.url)
    return url, record.domain, reason, detail, record.depth, _micros(record.discovered_at)


def _domain_row(
    connection: duckdb.DuckDBPyConnection, frontier: Frontier, ledger: Ledger, catalog: Catalog, domain: str
) -> None:
    counts = frontier.counts(domain)
    pace = ledger.load(domain)
    history = ledger.history(domain)
    site = catalog.for_domain(domain)
    pages = connection.execute("SELECT count(*) FROM pages WHERE domain = $1", [domain]).fetchone()
    last = connection.execute(
        "SELECT max(started_at), max_by(run_id, started_at) FROM fetch_log WHERE domain = $1 AND outcome <> 'excluded'",
        [domain],
    ).fetchone()
    connection.execute("DELETE FROM domains WHERE domain = $1", [domain])
    values: dict[str, Any] = {
        "domain": domain,
        "site": site.name if site else None,
        "discovered": counts.discovered,
        "pending": counts.pending,
        "leased": counts.leased,
        "done": counts.done,
        "failed": counts.failed,
        "excluded": counts.excluded,
        "pages": pages[0] if pages else 0,
        "rate": pace.rate if pace else None,
        "concurrency": pace.concurrency if pace else None,
        "rate_reason": "; ".join(pace.reasons) if pace else None,
        "limit_rate": pace.limit_rate if pace else None,
        "owed_until": _moment(pace.owed_until) if pace else None,
        "paused_cause": pace.paused_cause if pace else None,
        "last_night": history[-1].night if history else None,
        "last_fetch_at": last[0] if last else None,
        "last_run_id": last[1] if last else None,
        "loaded_at": datetime.now(UTC),
    }
    names = ", ".join(values)
    marks = ", ".join(f"${name}" for name in values)
    connection.execute(f"INSERT INTO domains ({names}) VALUES ({marks})", values)


def _nights(ledger: Ledger, domain: str) -> Iterator[tuple[Any, ...]]:
    for night in ledger.history(domain):
        yield (
            night.domain, night.night, _moment(night.started_at), _moment(night.ended_at), night.requests,
            night.throttled, night.forbidden, night.walls, night.failures, night.rate_start, night.rate_end,
            night.limit_rate, night.trouble_rate, night.waited_s, night.paused_cause,
        )  # fmt: skip
