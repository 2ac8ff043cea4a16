"""Pages as sharded files: for a look with ordinary tools, and for network file systems SQLite cannot use."""

from __future__ import annotations

from resources.pages.files.store import FilePages

__all__ = ["FilePages"]
