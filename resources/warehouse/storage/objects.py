"""Tables in an object store: parse steps write there from any machine, whoever has its turn loads and publishes.

    head.json                       which of the others count, and whose turn it is (`head`)
    staging/<domain>/<batch>/…      Parquet files and `batch.json`, written last (`staged`)
    parsed/<domain>.parquet         which body of each page has been parsed and loaded
    warehouse/<time>-<random>.duckdb, published/<time>-<random>.duckdb

DuckDB works on this machine's disk, in `folders`; a warehouse that another machine has loaded since is fetched
first. Costs: a load uploads the warehouse once, if anything has changed, and a publication its database once, however
little they change; parsing costs an object a file. A crash at any point leaves the head as it was: the batches are
still there, and so is the fetch log.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from resources.object_store.bucket import Bucket
from resources.object_store.folder_names import folder_name
from resources.warehouse.connection import WAIT_S, WarehouseError, connect, hold
from resources.warehouse.folders import TableFolders
from resources.warehouse.parse.batch import MANIFEST, Batch, drop_unfinished

from .copies import fetch, holds, note, wal_of
from .head import Turn, read_head, take_turn
from .staged import drop_batches, fetch_batches, write_batch

__all__ = ["ObjectTables"]


def _new_name(kind: str) -> str:
    return f"{kind}/{time.time_ns():020d}-{secrets.token_hex(4)}.duckdb"


def _index_name(domain: str) -> str:
    return f"parsed/{folder_name(domain)}.parquet"


class _ObjectWarehouse:
    """This machine's copy of the warehouse during one turn."""

    def __init__(self, bucket: Bucket, folders: TableFolders, turn: Turn) -> None:
        self._bucket = bucket
        self._folders = folders
        self._turn = turn
        self.connection = connect(folders)

    def keep(self) -> None:
        self.connection.close()  # all of it is in the one file then
        if not holds(self._folders.warehouse, self._turn.head.warehouse):
            name = _new_name("warehouse")
            self._bucket.put_file(name, self._folders.warehouse)
            self._count(warehouse=name)
            note(self._folders.warehouse, name)
        self.connection = connect(self._folders)

    def batches(self, domain: str) -> list[Batch]:
        return fetch_batches(self._bucket, domain, self._folders.arrived / folder_name(domain))

    def loaded(self, domain: str, index: Path, batches: Sequence[Batch]) -> None:
        self._bucket.put_file(_index_name(domain), index)
        index.unlink()
        drop_batches(self._bucket, domain, batches)

    def publish(self, made: Path) -> None:
        name = _new_name("published")
        self._bucket.put_file(name, made)
        self._count(published=name)
        made.replace(self._folders.published)
        note(self._folders.published, name)

    def published(self) -> Path | None:
        fetch(self._bucket, self._turn.head.published, self._folders.published)
        return self._folders.published if self._turn.head.published else None

    def _count(self, **names: str) -> None:
        """Let new objects count; those before them stay for readers, all others are of nobody."""
        head = self._turn.head
        (kind,) = names
        old = head.warehouse if kind == "warehouse" else head.published
        others = [name for name in head.former if not name.startswith(kind)]
        self._turn.change(**names, former=(*others, *([old] if old else [])))
        head = self._turn.head
        named = {*names.values(), *head.former}
        self._bucket.delete([name for name, _ in self._bucket.names(kind) if name not in named])


class ObjectTables:
    """See the module docstring and `base`. `address`: see `object_store.bucket`; `folders`: of this machine."""

    def __init__(self, address: str, folders: TableFolders) -> None:
        self.folders = folders
        self._bucket = Bucket(address, WarehouseError)

    def __repr__(self) -> str:
        return f"<ObjectTables {self._bucket.shown}>"

    def exists(self) -> bool:
        head, _ = read_head(self._bucket)
        return bool(head.warehouse)

    def index(self, domain: str) -> Path | None:
        # A warehouse that was deleted has no rows, whatever was parsed for it once.
        path = self.folders.parsed_of(domain)
        return path if self.exists() and self.fetch_index(domain, path) else None

    def drop_unfinished(self, domain: str) -> int:
        return drop_unfinished(self.folders.staging_of(domain))

    def settle(self, files: Iterable[Path]) -> None:
        """Nothing: they are read once, to be uploaded."""

    def stage(self, batch: Batch) -> None:
        write_batch(self._bucket, batch)
        shutil.rmtree(batch.folder)

    @contextmanager
    def warehouse(self, wait_s: float = WAIT_S) -> Iterator[_ObjectWarehouse]:
        until = time.monotonic() + wait_s
        with hold(self.folders, wait_s), self.turn(max(0.0, until - time.monotonic())) as turn:
            self._fetch_warehouse(turn)
            warehouse = _ObjectWarehouse(self._bucket, self.folders, turn)
            try:
                yield warehouse
            finally:
                warehouse.connection.close()
                shutil.rmtree(self.folders.arrived, ignore_errors=True)

    @contextmanager
    def turn(self, wait_s: float) -> Iterator[Turn]:
        """This machine's turn; the caller holds the lock of `folders`."""
        turn = take_turn(self._bucket, self._machine(), wait_s)
        try:
            yield turn
        finally:
            turn.end()

    # -- for `move` ----------------------------------------------------------------------------------
    def upload(self, kind: str, path: Path) -> str:
        """Write a file as a new object of this kind, which does not count before the head names it; its name."""
        name = _new_name(kind)
        self._bucket.put_file(name, path)
        return name

    def download(self, name: str, path: Path) -> int:
        """An object that the head names as a file; its size as the store has it."""
        try:
            self._bucket.get_file(name, path)
        except KeyError:
            raise WarehouseError(
                f"{self._bucket.shown}/{name} is not there, although head.json names it"
            ) from None
        return next(size for each, size in self._bucket.names(name.partition("/")[0]) if each == name)

    def fetch_index(self, domain: str, path: Path) -> bool:
        """The index of a domain as a file; False where there is none."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._bucket.get_file(_index_name(domain), path)
        except KeyError:
            return False
        return True

    def put_index(self, domain: str, path: Path) -> None:
        self._bucket.put_file(_index_name(domain), path)

    def staged(self) -> int:
        """Finished batches that are in no table yet."""
        return sum(name.endswith(f"/{MANIFEST}") for name, _ in self._bucket.names("staging"))

    def published(self) -> Path:
        for _ in range(3):
            head, _ = read_head(self._bucket)
            if head.published and holds(self.folders.published, head.published):
                break
            try:
                fetch(self._bucket, head.published, self.folders.published)
                break
            except KeyError:
                continue  # two newer ones have come while this one was fetched
        else:
            raise WarehouseError(
                f"{self._bucket.shown}: what head.json calls published is not there; publish again"
            )
        return self.folders.published

    def _fetch_warehouse(self, turn: Turn) -> None:
        path, name = self.folders.warehouse, turn.head.warehouse
        wal_of(path).unlink(missing_ok=True)  # of a load that never counted
        shutil.rmtree(self.folders.arrived, ignore_errors=True)
        if not name:
            # Pages parsed for a warehouse that is gone have to be parsed again.
            self._bucket.delete([each for each, _ in self._bucket.names("parsed")])
        try:
            fetch(self._bucket, name, path)
        except KeyError:
            raise WarehouseError(
                f"{self._bucket.shown}/{name} is not there, although head.json names it; delete head.json to begin a "
                "new warehouse: the next parse and load fill it from the page store"
            ) from None

    def _machine(self) -> str:
        """A name of this folder, made once; the caller holds its lock."""
        path = self.folders.machine
        if not path.exists():
            path.write_text(secrets.token_hex(8), encoding="ascii")
        return path.read_text(encoding="ascii")
