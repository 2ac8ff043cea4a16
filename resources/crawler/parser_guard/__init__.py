"""A page that crashes or hangs the native parser costs that page, recorded, and not the crawl.

slot.py     says on disk which page is being parsed, so that the page that killed a process can be told
child.py    a process (`../read_apart.py`) that parses the pages nobody trusts, under limits of time and memory
guard.py    decides which pages those are
suspects.py remembers at which pages processes have died
"""

from __future__ import annotations

from .child import ParserChild, ParserLost
from .guard import ParserGuard
from .slot import ParseSlot, culprits
from .suspects import parsing_folder, suspects

__all__ = ["ParseSlot", "ParserChild", "ParserGuard", "ParserLost", "culprits", "parsing_folder", "suspects"]
