"""Memory that malloc has free: kept from page to page, and given back to the kernel now and then.

Bodies and trees come and go with each page. Left alone, glibc gives their memory back and asks for it again ten times a
page, and the kernel clears it each time: 2 % of a crawl. `keep_heap` lets it be kept.

Pages of all sizes come and go in several threads, beside caches that stay: what is free lies in pieces between them. In
100,000 pages that grew to fifty megabytes of 250, and it differed by thirty from one crawl to the next.

`trim_heap` gives back what was kept meanwhile. Cost: a millisecond or two, no GIL held, and the pages that are used again
are handed out by the kernel again (0.2 µs for each KB).

glibc alone has the calls; elsewhere nothing is done.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["keep_heap", "trim_heap"]

#: Of `mallopt`: its number in malloc.h, and bytes. Blocks from the first size on are mapped one by one, and unmapped
#: when freed: larger than nearly all bodies. What is free at the end of a heap is given back from the second size on,
#: and a heap grows by the third at least.
_OPTIONS = ((-3, 8 << 20), (-1, 64 << 20), (-2, 4 << 20))


def _of_glibc(name: str, arguments: Sequence[Any]) -> Callable[..., int] | None:
    try:
        call = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # another libc, or another system
        return None
    call.argtypes, call.restype = list(arguments), ctypes.c_int
    found: Callable[..., int] = call
    return found


_trim = _of_glibc("malloc_trim", [ctypes.c_size_t])
_option = _of_glibc("mallopt", [ctypes.c_int, ctypes.c_int])


def keep_heap() -> bool:
    """Let this process keep memory that is free, until `trim_heap`; whether all of it was accepted. For good, and once is
    enough."""
    return _option is not None and 0 not in [_option(number, size) for number, size in _OPTIONS]


def trim_heap() -> bool:
    """Give back all whole pages that are free, in all threads' heaps; whether there were any. Any thread may call."""
    return _trim is not None and bool(_trim(0))
