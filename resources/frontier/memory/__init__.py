"""The frontier in memory: for tests and tiny crawls."""

from __future__ import annotations

from resources.frontier.memory.frontier import MemoryFrontier

__all__ = ["MemoryFrontier"]
