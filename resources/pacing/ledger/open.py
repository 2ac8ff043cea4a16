"""From a setting to a ledger: `memory:`, a SQLite path, or (many machines) a Redis or PostgreSQL URL."""

from __future__ import annotations

from pathlib import Path

from .base import Ledger, LedgerError

__all__ = ["open_ledger"]


def open_ledger(url_or_path: str) -> Ledger:
    """Open (and create, if need be) the ledger that `url_or_path` names; LedgerError says what is wrong."""
    if url_or_path == "memory:":
        from .memory import MemoryLedger

        return MemoryLedger()
    if url_or_path.startswith(("redis://", "rediss://")):
        from .redis import RedisLedger

        return RedisLedger(url_or_path)
    if url_or_path.startswith(("postgresql://", "postgres://")):
        from .postgres import PostgresLedger

        return PostgresLedger(url_or_path)
    path = url_or_path.removeprefix("sqlite:///") if url_or_path.startswith("sqlite:///") else url_or_path
    if "://" in path:
        raise LedgerError(
            f"ledger {url_or_path!r}: use memory:, sqlite:///path, redis://host:port/0, postgresql://host/database or a plain path"
        )
    from .sqlite import SqliteLedger

    return SqliteLedger(Path(path))
