"""Commit: acks, outlinks and log rows of many pages in one durable transaction.

Cost: one sync of the disk per call, one lookup for the outlinks of all pages together, and three row
writes a page (lease, URL, log).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resources.frontier.base import Ack, CommitResult, Discovery, FetchLogRow, State, Verdict
from resources.frontier.sqlite.enqueue import add_urls
from resources.frontier.sqlite.fetch_log import append_log
from resources.frontier.sqlite.session import Session, Writing
from resources.frontier.sqlite.statements import in_lists, read_statements

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
    changes: dict[Verdict, list[tuple[Any, ...]]] = {}
    with session.write() as writing:
        held = _end_leases(writing, acks)
        for ack in acks:
            # Taken out of `held`: a second ack of the same claim is as stale as a late one.
            lease = held.pop(ack.claim.token, None)
            if lease is None:
                result.stale += 1
                continue
            url_id, domain_id = lease
            changes.setdefault(ack.verdict, []).append(_change(url_id, ack, now))
            writing.moves.move(domain_id, State.LEASED, _STATE_AFTER[ack.verdict])
            result.acked += 1
            outlinks += ack.outlinks
            if ack.log is not None:
                log.append(ack.log)
        for verdict, rows in changes.items():
            writing.connection.executemany(_SQL[verdict.name.lower()], rows)
        if outlinks:
            result.enqueued, result.new_by_domain = add_urls(session, writing, outlinks, now)
        append_log(session, writing, log)
    return result


def _end_leases(writing: Writing, acks: Sequence[Ack]) -> dict[int, tuple[int, int]]:
    """Delete the leases of these claims; returns url and domain id by token, of those that still stood."""
    held: dict[int, tuple[int, int]] = {}
    for marks, tokens in in_lists([ack.claim.token for ack in acks]):
        statement = f"DELETE FROM lease WHERE token IN ({marks}) RETURNING token, url_id, domain_id"
        for token, url_id, domain_id in writing.connection.execute(statement, tokens):
            held[token] = (url_id, domain_id)
    return held


def _change(url_id: int, ack: Ack, now: float) -> tuple[Any, ...]:
    """The parameters of the statement that is named like the verdict."""
    counted = 1 if ack.counts_attempt else 0
    match ack.verdict:
        case Verdict.DONE:
            return (
                url_id, counted, ack.at, ack.due_at, ack.status, ack.cause, ack.detail, ack.content_hash,
            )  # fmt: skip
        case Verdict.RETRY:
            return (url_id, counted, _parked(ack, now), ack.status, ack.cause, ack.detail)
        case Verdict.FAILED:
            return (url_id, counted, ack.at, ack.next_eligible_at, ack.status, ack.cause, ack.detail)
        case Verdict.EXCLUDED:
            return (url_id, ack.status, ack.cause, ack.detail)
        case Verdict.RELEASED:
            return (url_id, _parked(ack, now))


def _parked(ack: Ack, now: float) -> float | None:
    """`not_before` as stored: None when that instant has come already."""
    return ack.not_before if ack.not_before is not None and ack.not_before > now else None
