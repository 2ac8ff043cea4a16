"""Where the files of the tables are, below `<data>/tables` or the folder of the setting `tables`. Names from outside can never leave it.

warehouse.duckdb                 the loader's database; opened by one process at a time
published.duckdb                 what readers open; only ever replaced whole
staging/<domain>/<batch>/        rows parsed and not yet loaded: Parquet files and `batch.json`, written last
parsed/<domain>.parquet          which body of each page has been parsed and loaded; made from the warehouse
loader.lock                      held while the warehouse is open

Where the tables are in an object store (`storage/objects.py`), these are this machine's copies and its place to work,
and there are two more: `arrived/<domain>/<batch>/`, batches fetched to be loaded, and `machine`, the folder's name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from resources.installation import Installation

__all__ = ["TableFolders", "file_name", "name_of_file"]

#: File systems end at 255 bytes; suffixes need room.
_LONGEST = 180


def file_name(text: str) -> str:
    """`text` as one file name: letters, digits, `-`, `_` and inner dots stay, everything else is %-escaped.

    Distinct texts have distinct names; long ones are cut and end in a hash.
    """
    name = quote(text, safe="").replace("~", "%7E")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > _LONGEST or not name:
        name = f"{name[:_LONGEST]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return name


def name_of_file(name: str) -> str:
    """The inverse of `file_name` for names that were not cut."""
    return unquote(name)


@dataclass(frozen=True, slots=True)
class TableFolders:
    """Paths of one installation."""

    root: Path

    @classmethod
    def of(cls, installation: Installation) -> TableFolders:
        return cls(installation.tables_folder)

    @property
    def warehouse(self) -> Path:
        return self.root / "warehouse.duckdb"

    @property
    def published(self) -> Path:
        return self.root / "published.duckdb"

    @property
    def lock(self) -> Path:
        return self.root / "loader.lock"

    @property
    def staging(self) -> Path:
        return self.root / "staging"

    @property
    def parsed(self) -> Path:
        return self.root / "parsed"

    @property
    def arrived(self) -> Path:
        return self.root / "arrived"

    @property
    def machine(self) -> Path:
        return self.root / "machine"

    def staging_of(self, domain: str) -> Path:
        return self.staging / file_name(domain)

    def parsed_of(self, domain: str) -> Path:
        return self.parsed / f"{file_name(domain)}.parquet"
