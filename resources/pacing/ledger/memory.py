"""The ledger in memory: for tests and for crawls that shall leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from resources.pacing.ledger.base import Command, LedgerRow, NightRow, merge

__all__ = ["MemoryLedger"]


class MemoryLedger:
    """Everything in dictionaries; gone with the process."""

    def __init__(self) -> None:
        self._rows: dict[str, LedgerRow] = {}
        self._nights: dict[str, dict[str, NightRow]] = {}
        self._commands: list[Command] = []

    def load(self, domain: str) -> LedgerRow | None:
        return self._rows.get(domain)

    def save(self, rows: Iterable[LedgerRow]) -> None:
        for row in rows:
            self._rows[row.domain] = merge(self._rows.get(row.domain), row)

    def all(self) -> list[LedgerRow]:
        return [self._rows[domain] for domain in sorted(self._rows)]

    def history(self, domain: str) -> list[NightRow]:
        return sorted(self._nights.get(domain, {}).values(), key=lambda night: night.started_at)

    def append_history(self, nights: Iterable[NightRow]) -> None:
        for night in nights:
            self._nights.setdefault(night.domain, {})[night.night] = night

    def send(self, command: Command) -> int:
        seq = len(self._commands) + 1
        self._commands.append(replace(command, seq=seq))
        return seq

    def commands(self, after: int = 0) -> list[Command]:
        return self._commands[after:]

    def close(self) -> None:
        """Nothing to close."""
