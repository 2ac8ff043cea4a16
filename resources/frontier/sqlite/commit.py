"""Commit: acks, outlinks and log rows of many pages in one durable transaction.

Cost: one sync of the disk per call, one lookup for the outlinks of all pages together, and three row
writes a page (lease, URL, log).
"""

from __future__ import annotations

from collections.abc import Sequence

from resources.frontier.base import Ack, CommitResult, Discovery, FetchLogRow, State, Verdict
from resources.frontier.sqlite.enqueue import add_urls
from resources.frontier.sqlite.fetch_log import append_log
from resources.frontier.sqlite.session import Session, Writing
from resources.frontier.sqlite.statements import read_statements

__all__ = ["commit"]

_SQL = read_statements("commit.sql")

_STATE_AFTER = {
    Verdict.DONE: State.DONE,
    Verdict.RETRY: State.PENDING,
    Verdict.FAILED: State.FAILED,
    Verdict.EXCLUDED: State.EXCLUDED,
    Verdict.RELEASED: State.PENDING,
}


def commit(session: Session, acks: Sequence[Ack], now: float) -> CommitResult:
    """See `Frontier.commit`. A stale ack changes nothing: its outlinks and log row are dropped with it."""
    result = CommitResult()
    outlinks: list[Discovery] = []
    log: list[FetchLogRow] = []
    with session.write() as writing:
        for ack in acks:
            ended = writing.connection.execute(_SQL["end_lease"], (ack.claim.token,)).fetchone()
            if ended is None:
                result.stale += 1
                continue
            url_id, domain_id = ended
            _write_verdict(writing, url_id, ack, now)
            writing.moves.move(domain_id, State.LEASED, _STATE_AFTER[ack.verdict])
            result.acked += 1
            outlinks += ack.outlinks
            if ack.log is not None:
                log.append(ack.log)
        if outlinks:
            result.enqueued, result.new_by_domain = add_urls(session, writing, outlinks, now)
        append_log(session, writing, log)
    return result


def _write_verdict(writing: Writing, url_id: int, ack: Ack, now: float) -> None:
    run = writing.connection.execute
    counted = 1 if ack.counts_attempt else 0
    match ack.verdict:
        case Verdict.DONE:
            run(
                _SQL["done"],
                (url_id, counted, ack.at, ack.due_at, ack.status, ack.cause, ack.detail, ack.content_hash),
            )
        case Verdict.RETRY:
            run(
                _SQL["retry"],
                (url_id, counted, _parked(ack, now), ack.status, ack.cause, ack.detail),
            )
        case Verdict.FAILED:
            run(
                _SQL["failed"],
                (url_id, counted, ack.at, ack.next_eligible_at, ack.status, ack.cause, ack.detail),
            )
        case Verdict.EXCLUDED:
            run(_SQL["excluded"], (url_id, ack.status, ack.cause, ack.detail))
        case Verdict.RELEASED:
            run(_SQL["released"], (url_id, _parked(ack, now)))


def _parked(ack: Ack, now: float) -> float | None:
    """`not_before` as stored: None when that instant has come already."""
    return ack.not_before if ack.not_before is not None and ack.not_before > now else None
