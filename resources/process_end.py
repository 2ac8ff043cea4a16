"""The end of a process, made short.

As it ends, the interpreter looks for cycles several times among all that lives, imported modules included: 50 ms after
a short command, 0.1 s after a crawl, more where Dagster is loaded. What has to be closed is closed by then, and the
kernel takes the memory back as it is.
"""

from __future__ import annotations

import atexit
import gc
from functools import cache

__all__ = ["end_without_collecting"]


@cache
def end_without_collecting() -> None:
    """At the end of this process leave cycles alone. For processes of our own, not for a library's caller."""
    atexit.register(gc.freeze)
