"""This machine's copies of the store's databases. A copy counts while its file is as it was when it was noted.

Beside `x.duckdb`, `x.copy` holds the object's name, the file's size and its time of change. A process that dies
while it writes to the file leaves a note that does not fit any more, and the object is fetched again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from resources.object_store.bucket import Bucket

__all__ = ["fetch", "holds", "note", "unnote", "wal_of"]


def _note_of(path: Path) -> Path:
    return path.with_suffix(".copy")


def wal_of(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def note(path: Path, name: str) -> None:
    """The file is a copy of the object `name` now."""
    stat = path.stat()
    temporary = _note_of(path).with_suffix(f".{os.getpid()}.copy")
    temporary.write_text(json.dumps([name, stat.st_size, stat.st_mtime_ns]), encoding="utf-8")
    temporary.replace(_note_of(path))


def unnote(path: Path) -> None:
    """The file is nobody's copy any more."""
    _note_of(path).unlink(missing_ok=True)


def holds(path: Path, name: str) -> bool:
    """Whether the file is still the object `name`."""
    try:
        stat = path.stat()
        noted = json.loads(_note_of(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return bool(noted == [name, stat.st_size, stat.st_mtime_ns])


def fetch(bucket: Bucket, name: str, path: Path) -> None:
    """Make the file a copy of the object, replaced whole; '' for no object and no file. KeyError if it is gone."""
    if not name:
        path.unlink(missing_ok=True)
        unnote(path)
        return
    if holds(path, name):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        bucket.get_file(name, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    note(path, name)
