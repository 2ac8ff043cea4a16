"""Moving a ledger between back-ends, beside `resources.frontier.move`: what was learned of each domain goes along.

Rows, nights and orders that were not obeyed yet. Orders get the target's numbers, and rows a `command_seq` that fits
them. Running it twice changes nothing but that orders not obeyed yet are sent again, which is no harm: they are
states (slow down until, pause, resume), not steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .base import Ledger, LedgerError, LedgerRow

__all__ = ["LedgerMoved", "move_ledger"]


@dataclass(frozen=True, slots=True)
class LedgerMoved:
    """How many went over."""

    rows: int
    nights: int
    commands: int


def move_ledger(source: Ledger, target: Ledger) -> LedgerMoved:
    """Copy everything and read it back; LedgerError when the target does not have it afterwards."""
    rows = source.all()
    obeyed = {row.domain: row.command_seq for row in rows}
    numbers = [command.seq for command in target.commands()]
    before = max(numbers, default=0)
    moved = [replace(row, command_seq=before) for row in rows]
    target.save(moved)
    nights = 0
    for row in rows:
        history = source.history(row.domain)
        target.append_history(history)
        nights += len(history)
        if [night.night for night in target.history(row.domain)][: len(history)] != [
            n.night for n in history
        ]:
            raise LedgerError(f"{row.domain}: its nights are not all in the new ledger; move it again")
    waiting = [c for c in source.commands() if c.seq > obeyed.get(c.domain, 0)]
    for command in waiting:
        target.send(command)
    _check(moved, target)
    return LedgerMoved(len(rows), nights, len(waiting))


def _check(rows: Iterable[LedgerRow], target: Ledger) -> None:
    for row in rows:
        there = target.load(row.domain)
        # A row that is newer there stays, as everywhere.
        if there is None or there.updated_at < row.updated_at:
            raise LedgerError(f"{row.domain}: its row did not arrive in the new ledger; move it again")
