"""Python's collector of cycles, made rare while a crawl runs.

A page makes some thousand short-lived objects, nearly none of them in a cycle: by its defaults the collector looks
at them ten times a page and at everything that lives, imported modules included, every few dozen pages: 4 % of a
crawl's CPU. What lives when a crawl begins is set aside, and young objects are looked at a thirtieth as often. A process
that has crawled ends without looking again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from resources.process_end import end_without_collecting

__all__ = ["rare_collections"]

#: New objects before a look at the young: a dozen pages, some megabytes.
_YOUNG = 20_000

_crawls = 0
_before: tuple[int, int, int] = (0, 0, 0)


@contextmanager
def rare_collections() -> Iterator[None]:
    """While the block runs. Blocks of several crawls in one process may overlap; the last one restores."""
    global _crawls, _before
    _crawls += 1
    if _crawls == 1:
        _before = gc.get_threshold()
        gc.freeze()
        gc.set_threshold(_YOUNG, *_before[1:])
        end_without_collecting()
    try:
        yield
    finally:
        _crawls -= 1
        if _crawls == 0:
            gc.set_threshold(*_before)
            gc.unfreeze()
