"""From a setting to a frontier: one string names the back-end and where it keeps its data.

========================  =======================================================================
``memory:``               this process only, gone at its end: tests and tiny crawls
``sqlite:///path``, path  one file, any number of processes of one machine: the default
``postgresql://host/db``  PostgreSQL, any number of machines: see `resources.frontier.postgres.database`
``redis://host:port/0``   Redis or Valkey, any number of machines; options: `resources.shared_redis.address`
========================  =======================================================================
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from resources.frontier.base import Frontier, FrontierError

__all__ = ["open_frontier"]

_SQLITE = "sqlite:///"


def open_frontier(url_or_path: str) -> Frontier:
    """Open (and create, if need be) the frontier that `url_or_path` names.

    `sqlite:///data/f.sqlite` is relative, `sqlite:////data/f.sqlite` absolute, as elsewhere. FrontierError
    for an unknown scheme and for a storage that cannot be opened.
    """
    if url_or_path == "memory:":
        from resources.frontier.memory import MemoryFrontier

        return MemoryFrontier()
    scheme, separator, _ = url_or_path.partition("://")
    if not separator and url_or_path:
        path = url_or_path
    elif url_or_path.startswith(_SQLITE) and len(url_or_path) > len(_SQLITE):
        path = unquote(url_or_path.removeprefix(_SQLITE))
    elif scheme in ("redis", "rediss"):
        from resources.frontier.redis import RedisFrontier

        return RedisFrontier(url_or_path)
    elif scheme in ("postgresql", "postgres"):
        from resources.frontier.postgres import PostgresFrontier

        return PostgresFrontier(url_or_path)
    else:
        raise FrontierError(
            f"frontier {url_or_path!r}: no back-end is named {scheme!r}; "
            "use memory:, sqlite:///path/to/file, redis://host:port/0, postgresql://host/database or a plain path"
        )
    from resources.frontier.sqlite import SqliteFrontier

    return SqliteFrontier(Path(path))
