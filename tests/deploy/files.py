"""The files of `deploy/` as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

__all__ = ["COMPOSE", "DEPLOY", "KUBERNETES", "documents", "loaded"]

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
COMPOSE = DEPLOY / "compose"
KUBERNETES = DEPLOY / "kubernetes"


def documents(text: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(text) if each]


def loaded(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found
