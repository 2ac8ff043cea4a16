"""Moving tables between a folder and an object store, whole: the fetch log, nights, and when something was first seen or
last changed cannot be made again from stored pages.

`move_tables(source, target, domains)` copies the warehouse, the published database, and for each of `domains` the index
of what was parsed, so that nothing is parsed again. What is staged has to be loaded first. The target must have no
tables of its own; the source stays as it was.

*Interrupted*, nothing counts: the object `head.json` is written last, the folder's warehouse is put in place last. Run
again, the move begins anew. *Verified*: a warehouse that was uploaded is read back and compared by its digest, one that
was fetched is compared with the size the store names; then all rows of all tables are counted in the copy.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import xxhash

from resources.warehouse.connection import WAIT_S, WarehouseError, connect, hold
from resources.warehouse.parse.batch import batches_of

from .base import TableStorage
from .copies import note, unnote
from .folder import FolderTables
from .objects import ObjectTables

__all__ = ["TablesMoved", "move_tables"]

_PART = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TablesMoved:
    """`rows` of all `tables`, `size` in bytes of the warehouse, domains whose index went along."""

    tables: int
    rows: int
    size: int
    domains: int


def move_tables(source: TableStorage, target: TableStorage, domains: Iterable[str]) -> TablesMoved:
    """See the module docstring. WarehouseError says what is in the way; nothing has changed then."""
    if not source.exists():
        raise WarehouseError(f"{source!r}: there are no tables yet")
    if isinstance(source, FolderTables) and isinstance(target, ObjectTables):
        return _to_objects(source, target, domains)
    if isinstance(source, ObjectTables) and isinstance(target, FolderTables):
        return _to_folder(source, target, domains)
    raise WarehouseError(
        f"tables move between a folder and an object store, not from {source!r} to {target!r}: copy the folder, or "
        "go by way of one"
    )


def _to_objects(source: FolderTables, target: ObjectTables, domains: Iterable[str]) -> TablesMoved:
    folders = source.folders
    with _alone(source, target):
        staged = [batch for folder in folders.staging.glob("*") for batch in batches_of(folder)]
        if staged:
            raise WarehouseError(
                f"{len(staged)} parsed batches are in no table yet: 'nightcrawl publish', then again"
            )
        connect(folders).close()  # all of it is in the one file then
        copy = folders.root / "warehouse.moved"
        with target.turn(WAIT_S) as turn:
            if turn.head.warehouse:
                raise WarehouseError(f"{target!r} has tables already: name another prefix")
            moved = 0
            for domain in domains:
                index = source.index(domain)
                if index is not None:
                    target.put_index(domain, index)
                    moved += 1
            names = {"warehouse": target.upload("warehouse", folders.warehouse)}
            if folders.published.exists():
                names["published"] = target.upload("published", folders.published)
            try:
                target.download(names["warehouse"], copy)
                if _digest(copy) != _digest(folders.warehouse):
                    raise WarehouseError(f"{target!r}: what was uploaded reads back otherwise; move again")
                tables, rows = _rows(copy)
            finally:
                copy.unlink(missing_ok=True)
            turn.change(**names)
        if target.folders == folders:  # this folder is where this machine works from now on
            note(folders.warehouse, names["warehouse"])
            if "published" in names:
                note(folders.published, names["published"])
    return TablesMoved(tables, rows, folders.warehouse.stat().st_size, moved)


def _to_folder(source: ObjectTables, target: FolderTables, domains: Iterable[str]) -> TablesMoved:
    folders = target.folders
    if target.exists() and source.folders != folders:
        raise WarehouseError(f"{target!r} has tables already: name another folder")
    new, published = folders.root / "warehouse.moved", folders.root / "published.moved"
    with _alone(source, target), source.turn(WAIT_S) as turn:
        waiting = source.staged()
        if waiting:
            raise WarehouseError(
                f"{waiting} parsed batches are in no table yet: 'nightcrawl publish', then again"
            )
        if folders.parsed.is_dir():
            shutil.rmtree(folders.parsed)
        moved = sum(source.fetch_index(domain, folders.parsed_of(domain)) for domain in domains)
        try:
            size = source.download(turn.head.warehouse, new)
            if new.stat().st_size != size:
                raise WarehouseError(f"{source!r}: {new.stat().st_size} of {size} bytes came; move again")
            tables, rows = _rows(new)
            if turn.head.published:
                source.download(turn.head.published, published)
                published.replace(folders.published)
            unnote(folders.published)
            unnote(folders.warehouse)
            new.replace(folders.warehouse)
        finally:
            new.unlink(missing_ok=True)
            published.unlink(missing_ok=True)
    return TablesMoved(tables, rows, size, moved)


@contextmanager
def _alone(*places: FolderTables | ObjectTables) -> Iterator[None]:
    """Hold the folders of all; both may have the same."""
    with ExitStack() as stack:
        for folders in sorted({place.folders for place in places}, key=lambda each: each.root):
            stack.enter_context(hold(folders, WAIT_S))
        yield


def _digest(path: Path) -> str:
    found = xxhash.xxh3_128()
    with path.open("rb") as file:
        while part := file.read(_PART):
            found.update(part)
    return str(found.hexdigest())


def _rows(path: Path) -> tuple[int, int]:
    """(tables, rows of all of them)."""
    with duckdb.connect(str(path), read_only=True) as connection:
        names = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal"
        ).fetchall()
        rows = 0
        for schema, table in names:
            found = connection.execute(f'SELECT count(*) FROM "{schema}"."{table}"').fetchone()
            rows += int(found[0]) if found is not None else 0
        return len(names), rows
