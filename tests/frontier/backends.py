"""The back-ends under test. A new one joins all contract tests by one more entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from resources.frontier.base import Frontier
from resources.frontier.open import open_frontier
from tests.fleet.servers import postgres_place, redis_place

__all__ = ["BACKENDS", "Backend"]


@dataclass(frozen=True)
class Backend:
    """`place(folder)` names a fresh, empty frontier; it skips the test when its server is not there."""

    name: str
    place: Callable[[Path], str]
    durable: bool = True  # outlives its process, and is shared by processes: they open the same place

    def fresh(self, folder: Path) -> Frontier:
        return open_frontier(self.place(folder))


BACKENDS = (
    Backend("memory", lambda folder: "memory:", durable=False),
    Backend("sqlite", lambda folder: str(folder / "frontier.sqlite")),
    Backend("redis", redis_place),
    Backend("postgres", postgres_place),
)


def each(*, durable_only: bool = False) -> pytest.MarkDecorator:
    """Run the test once a back-end."""
    chosen = [backend for backend in BACKENDS if backend.durable or not durable_only]
    return pytest.mark.parametrize("backend", chosen, ids=lambda backend: backend.name)
