"""When a site file lets its domains be asked (`pace.window`), as the window that pacing obeys."""

from __future__ import annotations

from resources.pacing.window import Window
from resources.site.pace import PaceRules

__all__ = ["open_hours"]


def open_hours(pace: PaceRules) -> Window | None:
    """The hours of a site; None: at any time."""
    given = pace.window
    if given is None:
        return None
    return Window.parse(f"{given.start}-{given.end}", given.zone, list(given.days) or None)
