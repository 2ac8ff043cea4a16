"""What the sensor `site_files` remembers of each domain: the version of what its site file extracts.

Dagster keeps a sensor's cursor with every tick and sends it to the page of the sensor: with thousands of domains that
would be 200 kB every half minute. So the versions are in the frontier, beside what else all machines share, and the
cursor says which. They have two places: those the cursor names stay as they are until Dagster has the next cursor, and
a tick that breaks off before is made again from the same state.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from resources.frontier.base import Frontier

__all__ = ["known_versions", "remember_versions"]


def known_versions(frontier: Frontier, memory: Mapping[str, Any]) -> dict[str, str]:
    """The versions the cursor's `memory` names. Numbered cases: 1. they are in it, as earlier versions of this program
    had them; 2. in the frontier; 3. not there any more (another frontier): none, as if every domain were new."""
    versions = memory.get("versions") or {}
    if isinstance(versions, dict):
        return versions
    place, _, digest = str(versions).partition(":")
    text = frontier.get_value(_name(place)) or ""
    if _digest(text) != digest:
        return {}
    found: dict[str, str] = json.loads(text)
    return found


def remember_versions(frontier: Frontier, memory: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """Keep `versions`; what the next cursor has to say of them. Nothing is written when they are as they were."""
    text = json.dumps(versions, sort_keys=True, separators=(",", ":"))
    digest = _digest(text)
    last = memory.get("versions")
    place, _, kept = str(last).partition(":") if isinstance(last, str) else ("1", "", "")
    if kept == digest:
        return str(last)
    place = "1" if place == "0" else "0"
    frontier.set_value(_name(place), text)
    return f"{place}:{digest}"


def _name(place: str) -> str:
    return f"site files: versions {place}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
