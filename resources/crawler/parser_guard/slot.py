"""The key of the page being parsed, in a small file that outlives a crash.

Each crawling process maps one file of its own and holds a lock on it as long as it lives. The key is written
before a parse and wiped after it: two stores into shared memory, 0.2 µs. The kernel keeps the page of a process
that dies, so the next start finds the files nobody holds and in them the pages during whose parse a process
ended. That is a suspicion and no proof (a kill -9 strikes at any moment), so such a page is not given up but
parsed behind the wall from then on.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import uuid
from pathlib import Path

__all__ = ["KEY_BYTES", "ParseSlot", "culprits"]

KEY_BYTES = 16
_NOTHING = bytes(KEY_BYTES)


class ParseSlot:
    """`with slot.parsing(key)` is spelled `enter` and `leave` here: it is on the path of every page."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"{os.getpid()}-{uuid.uuid4().hex[:8]}.slot"
        self._file = self._path.open("x+b")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._file.truncate(KEY_BYTES)
        self._memory = mmap.mmap(self._file.fileno(), KEY_BYTES)

    def enter(self, key: bytes) -> None:
        """The page with this 16-byte key is about to be parsed."""
        self._memory[:KEY_BYTES] = key

    def leave(self) -> None:
        self._memory[:KEY_BYTES] = _NOTHING

    def close(self) -> None:
        """Nothing was being parsed when this process ended."""
        if not self._memory.closed:
            self._memory.close()
            self._path.unlink(missing_ok=True)
            self._file.close()


def culprits(folder: Path) -> list[bytes]:
    """Keys of the pages at which processes that are gone ended; their files are removed."""
    found: list[bytes] = []
    for path in sorted(folder.glob("*.slot")) if folder.is_dir() else []:
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # its process lives
            key = file.read(KEY_BYTES)
            path.unlink(missing_ok=True)
            if len(key) == KEY_BYTES and key != _NOTHING:
                found.append(key)
    return found
