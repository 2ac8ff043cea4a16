"""From a setting to a page store: one string names the back-end and where it keeps its data.

========================  =======================================================================
``memory:``               this process only, gone at its end: tests and tiny crawls
``sqlite:///path``, path  one file, any number of processes of one machine: the default
``files:///path``         a folder of small files, for a look with ordinary tools
``s3://bucket/prefix``    S3 or alike, any number of machines; options: `object_store.bucket`
========================  =======================================================================

`sqlite:///data/p.sqlite` is relative, `sqlite:////data/p.sqlite` absolute, as elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from resources.pages.base import PageStore, PageStoreError

__all__ = ["open_pages"]


def open_pages(url_or_path: str, *, read_only: bool = False) -> PageStore:
    """Open (and create, if need be) the page store that `url_or_path` names.

    PageStoreError for an unknown scheme, for a storage that cannot be opened, and, if `read_only`, for one
    that is not there. Back-ends are imported when they are asked for.
    """
    if url_or_path == "memory:":
        from resources.pages.memory import MemoryPages

        return MemoryPages()
    scheme, separator, rest = url_or_path.partition("://")
    path = unquote(rest.removeprefix("/")) if separator else url_or_path
    if path and (not separator or (scheme == "sqlite" and rest.startswith("/"))):
        from resources.pages.sqlite import SqlitePages

        return SqlitePages(Path(path), read_only=read_only)
    if path and scheme == "files" and rest.startswith("/"):
        from resources.pages.files import FilePages

        return FilePages(Path(path), read_only=read_only)
    if path and scheme == "s3":
        from resources.pages.s3 import S3Pages

        return S3Pages(url_or_path, read_only=read_only)
    raise PageStoreError(
        f"page store {url_or_path!r}: this names no back-end; "
        "use memory:, sqlite:///path/to/file, files:///path/to/folder, s3://bucket/prefix or a plain path"
    )
