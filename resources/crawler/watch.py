"""Lets a display follow crawls it did not start: whoever watches is told of each crawl of this process.

The command line starts a Dagster job in its own process and shows what the fetch stage inside it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .crawl import Crawl

__all__ = ["tell", "watching"]

_watchers: list[Callable[[Crawl], None]] = []


@contextmanager
def watching(watcher: Callable[[Crawl], None]) -> Iterator[None]:
    """While the block runs, `watcher` is called with every crawl of this process as it starts.

    It is called in the crawl's own thread and event loop and must return at once.
    """
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def tell(crawl: Crawl) -> None:
    for watcher in list(_watchers):
        watcher(crawl)
