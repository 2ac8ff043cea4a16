"""From the setting `tables` to the place where tables are kept."""

from __future__ import annotations

from resources.installation import Installation
from resources.warehouse.folders import TableFolders

from .base import TableStorage
from .folder import FolderTables

__all__ = ["open_tables"]


def open_tables(installation: Installation) -> TableStorage:
    """A folder, or the object store that `s3://bucket/prefix` names; WarehouseError for an address that is none."""
    folders = TableFolders.of(installation)
    if installation.tables.startswith("s3://"):
        from .objects import ObjectTables

        return ObjectTables(installation.tables, folders)
    return FolderTables(folders)
