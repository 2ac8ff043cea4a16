"""Lua scripts in files of their own: read once, put together, called by their hash.

A line `--@include name.lua` is replaced by that file of the same folder. The first line of a script is its
`#!lua` line with flags: without flags Redis refuses the whole script when its memory is full, before it has
changed anything; `allow-oom` is for those that free memory or hand leases back.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Script", "read_script"]

_INCLUDE = "--@include "


@dataclass(slots=True, frozen=True)
class Script:
    """Source and the SHA-1 by which Redis knows it."""

    name: str
    source: str
    sha: str


def read_script(path: Path) -> Script:
    """The script in `path` with its parts."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(_INCLUDE):
            lines.append((path.parent / line.removeprefix(_INCLUDE)).read_text(encoding="utf-8"))
        else:
            lines.append(line)
    source = "\n".join(lines) + "\n"
    return Script(path.stem, source, hashlib.sha1(source.encode()).hexdigest())
