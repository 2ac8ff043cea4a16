"""Commit: acks, outlinks and log rows of many pages in one durable transaction.

Cost: one sync of the disk, one statement a verdict, three for the outlinks of all pages together.
"""

from __future__ import annotations

from collections.abc import Sequence

from resources.frontier.base import Ack, CommitResult, Discovery, FetchLogRow, State, Verdict
from resources.frontier.postgres.database import Database, Writing, clean
from resources.frontier.postgres.enqueue import add_urls
from resources.frontier.postgres.fetch_log import append_log
from resources.frontier.postgres.statements import read_statements

__all__ = ["commit"]

_SQL = read_statements("commit.sql")

_STATE_AFTER = {
    Verdict.DONE: State.DONE,
    Verdict.RETRY: State.PENDING,
    Verdict.FAILED: State.FAILED,
    Verdict.EXCLUDED: State.EXCLUDED,
    Verdict.RELEASED: State.PENDING,
}


def commit(database: Database, acks: Sequence[Ack], now: float) -> CommitResult:
    """See `Frontier.commit`. A stale ack changes nothing: its outlinks and log row are dropped with it."""
    if not acks:
        return CommitResult()
    outlinks = {id(ack): list(ack.outlinks) for ack in acks}

    def work(writing: Writing) -> CommitResult:
        result = CommitResult()
        by_verdict: dict[Verdict, dict[int, Ack]] = {}
        for ack in acks:
            # A second ack of the same claim is as stale as a late one.
            if not any(ack.claim.token in known for known in by_verdict.values()):
                by_verdict.setdefault(ack.verdict, {})[ack.claim.token] = ack
        ended: set[int] = set()
        for verdict in sorted(by_verdict):
            for token, domain_id in _end(writing, verdict, list(by_verdict[verdict].values()), now):
                writing.move(domain_id, State.LEASED, _STATE_AFTER[verdict])
                ended.add(token)
        links: list[Discovery] = []
        rows: list[FetchLogRow] = []
        for ack in acks:
            if ack.claim.token not in ended:
                result.stale += 1
                continue
            ended.discard(ack.claim.token)
            result.acked += 1
            links += outlinks[id(ack)]
            if ack.log is not None:
                rows.append(ack.log)
        result.enqueued, result.new_by_domain = add_urls(database, writing, links, now)
        writing.write_counters()
        writing.forget_counters()
        append_log(database, writing, rows)
        return result

    return database.write(work)


def _end(writing: Writing, verdict: Verdict, acks: list[Ack], now: float) -> list[tuple[int, int]]:
    """Write the acks of one verdict; (token, domain id) of those whose lease still stood."""
    acks.sort(key=lambda ack: ack.claim.key)
    words = {
        "key": [ack.claim.key for ack in acks],
        "token": [ack.claim.token for ack in acks],
        "counted": [int(ack.counts_attempt) for ack in acks],
        "at": [ack.at for ack in acks],
        "due_at": [ack.due_at for ack in acks],
        "parked": [
            ack.not_before if ack.not_before is not None and ack.not_before > now else None for ack in acks
        ],
        "next_eligible_at": [ack.next_eligible_at for ack in acks],
        "status": [ack.status for ack in acks],
        "cause": [clean(ack.cause) for ack in acks],
        "detail": [clean(ack.detail) for ack in acks],
        "content_hash": [ack.content_hash for ack in acks],
    }
    statement = _SQL[verdict.name.lower()].format(acks=_SQL["acks"])
    rows = writing.connection.execute(statement.encode(), words).fetchall()
    return [(token, domain_id) for _, token, domain_id in rows]
