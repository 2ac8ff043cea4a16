"""Batches as objects: `staging/<domain>/<batch>/<file>`, and `batch.json`, written last.

Names are made once, when a batch is, so that writing it again replaces it by itself. The manifest says the size of
every file: a batch whose files do not fit it is an error, not fewer rows.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from resources.object_store.bucket import Bucket, Listed
from resources.object_store.folder_names import folder_name
from resources.warehouse.connection import WarehouseError
from resources.warehouse.parse.batch import MANIFEST, Batch, batch_from

__all__ = ["drop_batches", "fetch_batches", "write_batch"]

#: Files without a manifest are of a parse step that died, if they are as old as this: none takes so long to upload.
ABANDONED_S = 24 * 3600.0


def _folder(domain: str) -> str:
    return f"staging/{folder_name(domain)}"


def write_batch(bucket: Bucket, batch: Batch) -> None:
    """Upload the files of `batch.folder`, then the manifest: from then on the batch counts."""
    place = f"{_folder(batch.domain)}/{batch.name}"
    files = sorted(batch.folder.iterdir())
    for _ in bucket.many(lambda path: bucket.put_file(f"{place}/{path.name}", path), files):
        pass
    values = asdict(batch)
    del values["folder"]
    manifest = {"batch": values, "files": {path.name: path.stat().st_size for path in files}}
    bucket.put(f"{place}/{MANIFEST}", json.dumps(manifest, indent=1).encode())


def fetch_batches(bucket: Bucket, domain: str, folder: Path) -> list[Batch]:
    """Finished batches of a domain, oldest first, with their files below `folder`; abandoned ones are removed."""
    by_batch: dict[str, dict[str, Listed]] = {}
    for each in bucket.listed(_folder(domain)):
        _, name, file = each.name.rsplit("/", 2)
        by_batch.setdefault(name, {})[file] = each
    found = []
    for name, files in by_batch.items():
        if MANIFEST in files:
            found.append(_fetch(bucket, files, folder / name))
        elif all(time.time() - each.written_at > ABANDONED_S for each in files.values()):
            bucket.delete([each.name for each in files.values()])
    return sorted(found, key=lambda batch: (batch.created_at, batch.name))


def _fetch(bucket: Bucket, files: dict[str, Listed], folder: Path) -> Batch:
    path = files[MANIFEST].name
    manifest = json.loads(bucket.get(path))
    for name, size in manifest["files"].items():
        if name not in files or files[name].size != size:
            raise WarehouseError(
                f"{bucket.shown}/{path} says {name} has {size} bytes, and the store does not have it so; delete the "
                "batch's folder and parse the domain again with every page (parse_all)"
            )
    folder.mkdir(parents=True, exist_ok=True)
    _need_room(folder, sum(manifest["files"].values()))
    for _ in bucket.many(lambda name: bucket.get_file(files[name].name, folder / name), manifest["files"]):
        pass
    return batch_from(manifest["batch"], folder)


def _need_room(folder: Path, wanted: int) -> None:
    """WarehouseError if the files do not fit the disk."""
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise WarehouseError(f"{folder} has {free} bytes of room, a staged batch needs {wanted}: make room")


def drop_batches(bucket: Bucket, domain: str, batches: Sequence[Batch]) -> None:
    """The manifests first, so that a torn removal leaves nothing to load."""
    places = [f"{_folder(domain)}/{batch.name}" for batch in batches]
    bucket.delete([f"{place}/{MANIFEST}" for place in places])
    bucket.delete(list(_others(bucket, places)))


def _others(bucket: Bucket, places: list[str]) -> Iterator[str]:
    for place in places:
        for name, _ in bucket.names(place):
            yield name
