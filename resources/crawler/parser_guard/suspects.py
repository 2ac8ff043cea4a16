"""The pages at which a process ended, on whichever machine: remembered in the frontier, parsed apart ever after."""

from __future__ import annotations

import logging
from pathlib import Path

from resources.frontier.base import Frontier

from .slot import culprits

__all__ = ["parsing_folder", "suspects"]

log = logging.getLogger(__name__)

#: The frontier's value that holds their keys.
SUSPECTS = "parser_suspects"
#: The newest are kept: a kill leaves one at most.
MAX_SUSPECTS = 500


def parsing_folder(data: Path) -> Path:
    """Where the processes of this machine say which page they are parsing, below the data folder."""
    return data / "parsing"


def suspects(frontier: Frontier, folder: Path) -> list[bytes]:
    """Keys of all suspected pages; what dead processes of this machine left in `folder` is added first."""
    known = frontier.get_value(SUSPECTS) or ""
    found = [bytes.fromhex(text) for text in known.split()]
    if new := [key for key in culprits(folder) if key not in found]:
        log.warning("a process ended while it parsed %d page(s): parsed apart from now on", len(new))
        found = [*found, *new][-MAX_SUSPECTS:]
        frontier.set_value(SUSPECTS, " ".join(key.hex() for key in found))
    return found
