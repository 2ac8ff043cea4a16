"""From a setting to a page store: one string names the back-end and where it keeps its data.

========================  =======================================================================
``memory:``               this process only, gone at its end: tests and tiny crawls
``sqlite:///path``, path  one file, any number of processes of one machine: the default
========================  =======================================================================
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from resources.pages.base import PageStore, PageStoreError

__all__ = ["open_pages"]

_SQLITE = "sqlite:///"


def open_pages(url_or_path: str, *, read_only: bool = False) -> PageStore:
    """Open (and create, if need be) the page store that `url_or_path` names.

    `sqlite:///data/p.sqlite` is relative, `sqlite:////data/p.sqlite` absolute, as elsewhere. PageStoreError
    for an unknown scheme, for a storage that cannot be opened, and for one that is not there if `read_only`.
    """
    scheme, separator, _ = url_or_path.partition("://")
    if not separator and url_or_path:
        path = url_or_path
    elif url_or_path.startswith(_SQLITE) and len(url_or_path) > len(_SQLITE):
        path = unquote(url_or_path.removeprefix(_SQLITE))
    else:
        raise PageStoreError(
            f"page store {url_or_path!r}: no back-end is named {scheme!r}; "
            "use sqlite:///path/to/file or a plain path"
        )
    from resources.pages.sqlite import SqlitePages

    return SqlitePages(Path(path), read_only=read_only)
