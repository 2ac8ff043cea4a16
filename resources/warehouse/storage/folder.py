"""Tables in a folder: of one machine, or one that several machines share with file locks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from resources.warehouse.connection import WAIT_S, connect, hold
from resources.warehouse.folders import TableFolders
from resources.warehouse.parse.batch import Batch, batches_of, drop_unfinished, to_disk, write_manifest

__all__ = ["FolderTables"]


class _FolderWarehouse:
    """A commit of DuckDB is durable by itself."""

    def __init__(self, folders: TableFolders, connection: duckdb.DuckDBPyConnection) -> None:
        self._folders = folders
        self.connection = connection

    def keep(self) -> None:
        """Nothing is left to do."""

    def batches(self, domain: str) -> list[Batch]:
        return batches_of(self._folders.staging_of(domain))

    def loaded(self, domain: str, index: Path, batches: Sequence[Batch]) -> None:
        index.replace(self._folders.parsed_of(domain))
        for batch in batches:
            batch.remove()

    def publish(self, made: Path) -> None:
        to_disk(made)
        made.replace(self._folders.published)
        to_disk(self._folders.root)

    def published(self) -> Path | None:
        return self._folders.published if self._folders.published.exists() else None


class FolderTables:
    """See the module docstring and `base`."""

    def __init__(self, folders: TableFolders) -> None:
        self.folders = folders

    def __repr__(self) -> str:
        return f"<FolderTables {self.folders.root}>"

    def exists(self) -> bool:
        return self.folders.warehouse.exists()

    def index(self, domain: str) -> Path | None:
        # A warehouse that was deleted has no rows, whatever was parsed for it once.
        path = self.folders.parsed_of(domain)
        return path if self.exists() and path.exists() else None

    def drop_unfinished(self, domain: str) -> int:
        return drop_unfinished(self.folders.staging_of(domain))

    def settle(self, files: Iterable[Path]) -> None:
        for path in files:
            to_disk(path)

    def stage(self, batch: Batch) -> None:
        write_manifest(batch)

    @contextmanager
    def warehouse(self, wait_s: float = WAIT_S) -> Iterator[_FolderWarehouse]:
        with hold(self.folders, wait_s):
            if not self.exists() and self.folders.parsed.is_dir():
                # Pages parsed for a warehouse that is gone have to be parsed again.
                for path in self.folders.parsed.glob("*.parquet"):
                    path.unlink()
            connection = connect(self.folders)
            try:
                yield _FolderWarehouse(self.folders, connection)
            finally:
                connection.close()

    def published(self) -> Path:
        return self.folders.published
