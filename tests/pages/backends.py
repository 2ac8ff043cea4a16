"""The back-ends under test. A new one joins all contract tests by one more entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from resources.pages.base import PageStore, PageStoreError
from resources.pages.open import open_pages
from tests.fleet.servers import s3_place

__all__ = ["BACKENDS", "Backend", "each"]


@dataclass(frozen=True)
class Backend:
    """`place(folder)` names a fresh, empty store; it skips the test when its server is not there.

    `damage(place, body)` spoils the stored form of the only body of the store, as a bad disk would.
    """

    name: str
    place: Callable[[Path], str]
    damage: Callable[[str], None] | None = None
    durable: bool = True  # outlives its process, and is shared by processes: they open the same place

    def fresh(self, folder: Path) -> PageStore:
        return open_pages(self.place(folder))


def _damage_sqlite(place: str) -> None:
    import sqlite3

    connection = sqlite3.connect(place)
    with connection:
        (data,) = connection.execute("SELECT data FROM pack").fetchone()
        connection.execute("UPDATE pack SET data = ?", (_spoiled(data),))
    connection.close()


def _damage_files(place: str) -> None:
    (path,) = Path(place.removeprefix("files:///")).glob("domains/*/*/bodies/*/*.zst")
    path.write_bytes(_spoiled(path.read_bytes()))


def _damage_s3(place: str) -> None:
    from resources.object_store.bucket import Bucket
    from resources.pages.s3.journal import FOLDER
    from resources.pages.s3.pack import read_footer

    bucket = Bucket(place, PageStoreError)
    (folder,) = [each for each in bucket.folders() if each != FOLDER]
    ((name, size),) = bucket.names(folder)
    data = bucket.get(name)
    (body,) = read_footer(data, name, size).bodies.values()
    end = body.start + body.length
    bucket.put(name, _spoiled(data[:end]) + data[end:])
    bucket.close()


def _spoiled(data: bytes) -> bytes:
    """The last byte belongs to the body's text, not to the frame's head."""
    return data[:-1] + bytes([data[-1] ^ 0x01])


BACKENDS = (
    Backend("memory", lambda folder: "memory:", durable=False),
    Backend("sqlite", lambda folder: str(folder / "pages.sqlite"), _damage_sqlite),
    Backend("files", lambda folder: f"files:///{folder / 'pages'}", _damage_files),
    Backend("s3", s3_place, _damage_s3),
)


def each(*, durable_only: bool = False) -> pytest.MarkDecorator:
    """Run the test once a back-end."""
    chosen = [backend for backend in BACKENDS if backend.durable or not durable_only]
    return pytest.mark.parametrize("backend", chosen, ids=lambda backend: backend.name)
