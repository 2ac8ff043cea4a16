"""How every command ends, as told in docs/cli.md. Scripts rely on the numbers: never renumber."""

from __future__ import annotations

import enum

__all__ = ["ExitCode"]


class ExitCode(enum.IntEnum):
    """The status a shell sees."""

    OK = 0
    BAD_NEWS = 1
    """The command did its work, and what it found is bad: domains failed, an unknown URL, refused lines."""
    USAGE = 2
    """Arguments or site files cannot be used; nothing was done."""
    STORAGE = 3
    """Frontier, page store, ledger or tables could not be read or written; nothing acked was lost."""
    INTERNAL = 70
    """A defect of Nightcrawl (EX_SOFTWARE of sysexits.h)."""
    INTERRUPTED = 130
    """SIGINT: drained, everything finished is kept."""
    TERMINATED = 143
    """SIGTERM: the same."""
