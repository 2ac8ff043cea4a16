"""Moving a frontier between back-ends: growing up (or back) costs no re-crawl.

    report = move(source, target, now)

Every row of every domain goes over as it is: states, attempts, dates, causes, hashes. Then both sides are read
again and compared by counts and by a digest that does not depend on the order of rows. What is not moved: leases
on domains and signs of life, which belong to workers that must not run meanwhile; and the fetch log, which must
have been loaded into the tables before. Among URLs of equal priority the order of discovery is not kept.

*Resumable.* After each batch the target remembers how far the domain has come, in a named value; started again
after a crash, the move goes on there. Rows are overwritten, so doing a batch twice changes nothing.

Costs: both sides are read twice and written once; memory holds one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import islice

import xxhash

from resources.frontier.base import Frontier, FrontierError, StateCounts, UrlRecord

__all__ = ["DomainMoved", "MoveReport", "check_quiet", "digest", "move"]

#: Rows of one batch.
BATCH = 2_000
#: A worker heard of within this time counts as running.
ALIVE_S = 90.0
#: Back-ends may keep less of very long texts; as far as this they all keep them.
_TEXT = 1_000
_NAMES = tuple(item.name for item in fields(UrlRecord))


@dataclass(slots=True)
class DomainMoved:
    """One domain: how many rows, how many of them in this run, and the digest both sides agree on."""

    domain: str
    rows: int
    written: int
    digest: str


@dataclass(slots=True)
class MoveReport:
    """What was moved and verified."""

    domains: list[DomainMoved] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.domains)


def move(
    source: Frontier,
    target: Frontier,
    now: float,
    *,
    values: Iterable[str] = (),
    without_log: bool = False,
    on_domain: Callable[[DomainMoved], None] | None = None,
) -> MoveReport:
    """Move all domains; `values` names the values that go along. FrontierError when the sides do not agree.

    `without_log`: leave log rows behind that are in no table yet.
    """
    check_quiet(source, now, "to move from")
    check_quiet(target, now, "to move to")
    if not without_log and (waiting := source.read_log(0, 1)):
        raise FrontierError(
            f"{source!r}: its fetch log holds rows that are in no table yet (from number {waiting[0][0]}); "
            "load them first (parse and publish), or leave them behind by name"
        )
    report = MoveReport()
    for domain in sorted(source.all_counts()):
        moved = _move_domain(source, target, domain)
        report.domains.append(moved)
        if on_domain is not None:
            on_domain(moved)
    for name in values:
        value = source.get_value(name)
        if value is not None:
            target.set_value(name, value)
    for moved in report.domains:
        target.set_value(f"move:{moved.domain}", "")  # another move begins anew
    return report


def digest(records: Iterable[UrlRecord]) -> tuple[int, str]:
    """(rows, digest) of records in any order: the sum of their hashes, modulo 2^128."""
    rows, total = 0, 0
    for record in records:
        rows += 1
        total += _hash(record)
    return rows, f"{total % (1 << 128):032x}"


def _hash(record: UrlRecord) -> int:
    shortened = replace(record, detail=record.detail[:_TEXT], cause=record.cause[:_TEXT])
    words = repr(tuple(getattr(shortened, name) for name in _NAMES))
    return xxhash.xxh3_128_intdigest(words.encode("utf-8", "surrogatepass"))


def check_quiet(frontier: Frontier, now: float, deed: str) -> None:
    """FrontierError while workers are heard of; `deed`: before what they have to stop."""
    workers = [beat.worker for beat in frontier.workers(now, ALIVE_S)]
    if workers:
        raise FrontierError(
            f"{frontier!r}: {len(workers)} workers were heard of in the last {ALIVE_S:g} s ({workers[0]}, …): "
            f"stop them {deed} it"
        )


def _move_domain(source: Frontier, target: Frontier, domain: str) -> DomainMoved:
    mark = f"move:{domain}"
    done_to = bytes.fromhex(target.get_value(mark) or "")
    written = 0
    left = (record for record in source.records(domain) if record.key > done_to)
    for batch in _batches(left):
        target.put_records(batch)
        target.set_value(mark, batch[-1].key.hex())
        written += len(batch)
    rows, found = digest(source.records(domain))
    there, other = digest(target.records(domain))
    if (rows, found) != (there, other):
        target.set_value(mark, "")
        raise FrontierError(
            f"{domain}: {rows} rows here and {there} there, or not the same ones ({found}, {other}): did "
            "somebody write meanwhile? Moving it again begins with its first row"
        )
    _check_counts(target, domain, source.counts(domain))
    return DomainMoved(domain, rows, written, found)


def _batches(records: Iterator[UrlRecord]) -> Iterator[list[UrlRecord]]:
    while batch := list(islice(records, BATCH)):
        yield batch


def _check_counts(target: Frontier, domain: str, expected: StateCounts) -> None:
    counted = target.counts(domain)
    if counted != expected or target.recount(domain) != expected:
        raise FrontierError(f"{domain}: {expected} here, {counted} there; move it again")
