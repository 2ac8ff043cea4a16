"""What parse steps, the loader and readers ask of the place where tables are kept.

The order of a load, which both forms keep: 1. batches are applied in transactions; 2. `keep` makes all of it
durable; 3. only then are files removed, the index written and the fetch log trimmed. A crash before 2 leaves
nothing of 1; a crash after it leaves batches whose names the warehouse knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import duckdb

from resources.warehouse.connection import WAIT_S
from resources.warehouse.folders import TableFolders
from resources.warehouse.parse.batch import Batch

__all__ = ["TableStorage", "Warehouse"]


class Warehouse(Protocol):
    """The warehouse while nobody else has it, on any machine."""

    connection: duckdb.DuckDBPyConnection
    """Another one after `keep`."""

    def keep(self) -> None:
        """What was committed is durable on return. Without it, an object store forgets what was done."""

    def batches(self, domain: str) -> list[Batch]:
        """Finished batches of a domain, oldest first; their files are on this machine."""

    def loaded(self, domain: str, index: Path, batches: Sequence[Batch]) -> None:
        """After `keep`: put `index` (moved from there) in the place of the domain's; drop the batches."""

    def publish(self, made: Path) -> None:
        """Put the database `made` in the place of the published one: durable, whole, in one step."""

    def published(self) -> Path | None:
        """The published database as it is now, on this machine."""


class TableStorage(Protocol):
    """See the module docstring. Cheap to make; nothing is opened before it is used."""

    folders: TableFolders
    """Where this machine works."""

    def exists(self) -> bool:
        """Whether anything was ever loaded."""

    def index(self, domain: str) -> Path | None:
        """What was parsed and loaded of a domain, in key order; None: nothing."""

    def drop_unfinished(self, domain: str) -> int:
        """Remove what dead parse steps of this machine left; the caller is the only parse step of this domain."""

    def settle(self, files: Iterable[Path]) -> None:
        """Files of a batch to come are whole: bring to disk now, while others are written, what `stage` would have to
        wait for."""

    def stage(self, batch: Batch) -> None:
        """Make a batch count whose files are in `batch.folder`: all of it or nothing, also when it fails."""

    def warehouse(self, wait_s: float = WAIT_S) -> AbstractContextManager[Warehouse]:
        """The warehouse, alone: created with all its tables if it is not there. WarehouseBusy after `wait_s`."""

    def published(self) -> Path:
        """Where the published database is on this machine, as new as it is anywhere; it may not exist."""
