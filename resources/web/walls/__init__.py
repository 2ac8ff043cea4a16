"""Walls: answers that pretend to be the page asked for: challenges, block pages, soft 404s, login walls.

Recognised only, so that the crawler slows down and stores nothing; never solved or evaded.
`verdict` decides, `markers` and `phrases` are the facts as tables, `page` is what is looked at.
"""

from __future__ import annotations

from .verdict import DETECTOR_VERSION, Verdict, clear, judge

__all__ = ["DETECTOR_VERSION", "Verdict", "clear", "judge"]
