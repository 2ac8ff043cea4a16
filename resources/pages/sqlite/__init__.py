"""Pages in one SQLite file: the default of one machine."""

from __future__ import annotations

from resources.pages.sqlite.store import SqlitePages

__all__ = ["SqlitePages"]
