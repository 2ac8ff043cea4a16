"""A batch: what one parse step staged for one domain. It exists once its manifest does.

The manifest is written last and atomically: a step that dies leaves a folder without one, which nobody loads
and the next step of the domain removes.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["MANIFEST", "Batch", "batch_from", "batches_of", "drop_unfinished", "to_disk", "write_manifest"]

MANIFEST = "batch.json"


@dataclass(frozen=True, slots=True)
class Batch:
    """A manifest and where it stands. `name` is unique for ever."""

    name: str
    domain: str
    run_id: str
    created_at: float
    extraction_version: str
    parser_version: str
    item_types: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    folder: Path = field(default=Path(), compare=False)

    def files(self, table: str) -> list[str]:
        """Parquet files of a table, by name."""
        return sorted(str(path) for path in self.folder.glob(f"{table}-*.parquet"))

    def remove(self) -> None:
        """Delete the files; the manifest first, so that a torn removal leaves nothing to load."""
        (self.folder / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def write_manifest(batch: Batch) -> None:
    """Make the batch count: every file of its folder is durable first, then the manifest appears."""
    for path in batch.folder.iterdir():
        to_disk(path)
    values = asdict(batch)
    del values["folder"]
    temporary = batch.folder / f"{MANIFEST}.new"
    temporary.write_text(json.dumps(values, indent=1), encoding="utf-8")
    to_disk(temporary)
    temporary.replace(batch.folder / MANIFEST)
    to_disk(batch.folder)


def batch_from(values: Mapping[str, Any], folder: Path) -> Batch:
    """The batch of a manifest, with its files in `folder`."""
    return Batch(**{**values, "item_types": tuple(values["item_types"])}, folder=folder)


def batches_of(folder: Path) -> list[Batch]:
    """Finished batches below a domain's staging folder, oldest first."""
    found = []
    for path in folder.glob(f"*/{MANIFEST}"):
        found.append(batch_from(json.loads(path.read_text(encoding="utf-8")), path.parent))
    return sorted(found, key=lambda batch: (batch.created_at, batch.name))


def drop_unfinished(folder: Path) -> int:
    """Remove what dead parse steps left; the caller is the only parse step of this domain."""
    dropped = 0
    if folder.is_dir():
        for path in folder.iterdir():
            if path.is_dir() and not (path / MANIFEST).exists():
                shutil.rmtree(path, ignore_errors=True)
                dropped += 1
    return dropped


def to_disk(path: Path) -> None:
    """On return a file, or the names in a folder, outlive the machine."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
