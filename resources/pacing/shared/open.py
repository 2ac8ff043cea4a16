"""From the ledger's setting to the exchange with the server that keeps one pace for all workers."""

from __future__ import annotations

from .exchange import Exchange

__all__ = ["open_exchange"]


def open_exchange(ledger: str) -> Exchange | None:
    """None where the ledger is not shared: then each domain has one worker, which keeps its pace alone."""
    if ledger.startswith(("redis://", "rediss://")):
        from .redis_turns import RedisTurns

        return Exchange(RedisTurns(ledger))
    if ledger.startswith(("postgresql://", "postgres://")):
        from .postgres_turns import PostgresTurns

        return Exchange(PostgresTurns(ledger))
    return None
