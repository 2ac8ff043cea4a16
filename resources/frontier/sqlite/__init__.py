"""The frontier in one SQLite file: for one machine, any number of processes, no server."""

from __future__ import annotations

from resources.frontier.sqlite.frontier import SqliteFrontier

__all__ = ["SqliteFrontier"]
