"""Moving a ledger between back-ends, with its nights: the new place starts from what the old one learned."""

from __future__ import annotations

from dataclasses import replace

from resources.pacing.ledger.base import Ledger, LedgerError

__all__ = ["move_ledger"]


def move_ledger(source: Ledger, target: Ledger) -> int:
    """Copy every row and night; returns how many rows. Doing it again changes nothing.

    Orders that no crawl has obeyed yet are sent anew, since each ledger numbers its own. LedgerError when the
    target does not hold what was written.
    """
    rows = source.all()
    target.save(replace(row, command_seq=0) for row in rows)
    for row in rows:
        target.append_history(source.history(row.domain))
        if target.history(row.domain) != source.history(row.domain):
            raise LedgerError(f"{row.domain}: the nights of the two ledgers differ; move again")
    obeyed = {row.domain: row.command_seq for row in rows}
    sent = {replace(command, seq=0) for command in target.commands()}
    for command in source.commands():
        if command.seq > obeyed.get(command.domain, 0) and replace(command, seq=0) not in sent:
            target.send(command)
    there = {row.domain: row for row in target.all()}
    for row in rows:
        kept = there.get(row.domain)
        if kept is None or kept.updated_at < row.updated_at:
            raise LedgerError(f"{row.domain}: its row did not arrive; move again")
    return len(rows)
