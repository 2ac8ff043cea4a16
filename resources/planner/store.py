"""Plans on disk: `<data>/reports/<night>.plan.json`, beside the report that compares them with the night."""

from __future__ import annotations

import os
import re
from pathlib import Path

from resources.installation import Installation
from resources.planner.night import NightPlan

__all__ = ["load_plan", "plan_path", "save_plan"]

_NIGHT = re.compile(r"[\w.+-]{1,80}")


def plan_path(installation: Installation, night: str) -> Path:
    """ValueError for a name that is no night's: it becomes a file name."""
    if not _NIGHT.fullmatch(night) or night.startswith("."):
        raise ValueError(f"{night!r} is no night: write its date, as in 2026-11-29")
    return installation.reports / f"{night}.plan.json"


def save_plan(installation: Installation, plan: NightPlan) -> Path:
    """Write it whole or not at all; a plan of the same night is replaced."""
    path = plan_path(installation, plan.night)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}.new")
    new.write_text(plan.to_json() + "\n", encoding="utf-8")
    new.replace(path)
    return path


def load_plan(installation: Installation, night: str) -> NightPlan | None:
    """None: no plan was made. ValueError names a file that cannot be understood."""
    path = plan_path(installation, night)
    try:
        return NightPlan.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no plan ({error}): delete it to go on without one") from None
