"""The warehouse's connection: one process at a time, everybody else waits their turn or is told who holds it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from .folders import TableFolders
from .item_tables import VIEWS_VERSION, create_views
from .statements import read_script

__all__ = ["WAIT_S", "WarehouseBusy", "WarehouseError", "connect", "hold"]

#: Loads are short; whoever waits this long waits for something that hangs.
WAIT_S = 600.0


class WarehouseError(Exception):
    """The warehouse cannot be used; the message says why and what to do."""


class WarehouseBusy(WarehouseError):
    """Another process kept the warehouse for too long."""


@contextmanager
def hold(folders: TableFolders, wait_s: float) -> Iterator[None]:
    """Be the only process of this machine that has the warehouse; WarehouseBusy after `wait_s`.

    The lock is a file of ours, held before DuckDB is asked: waiting works, and a dead holder frees it.
    """
    folders.root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folders.lock, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(descriptor, folders, wait_s)
        yield
    finally:
        os.close(descriptor)


def connect(folders: TableFolders) -> duckdb.DuckDBPyConnection:
    """The warehouse's file for reading and writing, with all its tables; the caller holds it."""
    try:
        connection = duckdb.connect(str(folders.warehouse))
    except duckdb.Error as error:
        raise WarehouseError(
            f"{folders.warehouse} cannot be opened: {error}. If another program has it open, close that; "
            "if it is damaged, delete it: the next parse and load make it again from the page store"
        ) from None
    try:
        connection.execute("SET TimeZone = 'UTC'")
        _ensure_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _ensure_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Create or complete the tables, if the warehouse was made by another version of the scripts.

    In one transaction: a hundred comments would otherwise wait for the disk a hundred times.
    """
    script = read_script("tables.sql") + read_script("views.sql")
    version = hashlib.sha256(f"{script}{VIEWS_VERSION}".encode()).hexdigest()
    connection.execute("CREATE SCHEMA IF NOT EXISTS loading")
    connection.execute("CREATE TABLE IF NOT EXISTS loading.scripts (version VARCHAR NOT NULL)")
    if (
        connection.execute("SELECT 1 FROM loading.scripts WHERE version = $1", [version]).fetchone()
        is not None
    ):
        return
    connection.execute("BEGIN")
    connection.execute(script)
    create_views(connection)
    connection.execute("DELETE FROM loading.scripts")
    connection.execute("INSERT INTO loading.scripts VALUES ($1)", [version])
    connection.execute("COMMIT")


def _lock(descriptor: int, folders: TableFolders, wait_s: float) -> None:
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                holder = os.pread(descriptor, 64, 0).decode("ascii", "replace").strip() or "unknown"
                raise WarehouseBusy(
                    f"process {holder} has had {folders.warehouse} for {wait_s:g} s; wait for it or end it"
                ) from None
            time.sleep(0.05)
            continue
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        return
