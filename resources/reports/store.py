"""Reports on disk: `<data>/reports/<night>.html`, written whole or not at all; `latest.html` is the newest."""

from __future__ import annotations

import os
from pathlib import Path

from resources.installation import Installation
from resources.planner.store import plan_path

__all__ = ["report_path", "save_report"]


def report_path(installation: Installation, night: str) -> Path:
    """ValueError for a name that is no night's."""
    return plan_path(installation, night).with_name(f"{night}.html")


def save_report(installation: Installation, night: str, page: str) -> Path:
    """Write the page; one of the same night is replaced."""
    path = report_path(installation, night)
    for target in (path, path.with_name("latest.html")):
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(f".{target.name}.{os.getpid()}.new")
        new.write_text(page, encoding="utf-8")
        new.replace(target)
    return path
