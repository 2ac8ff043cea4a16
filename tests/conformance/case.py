"""The shape every conformance suite answers in.

A *case* is one JSON object of the data files; it may hold several *checks*, each with its own level.
`must` and `should` are asserted, everything else is reported only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["ASSERTED", "Case", "Check", "Suite"]

#: Levels that decide whether a suite passes: all of `must`, 95 % of `should`.
ASSERTED = ("must", "should")

Case = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Check:
    """One verdict: which case, how binding it is, whether the product agrees, and what it said if not."""

    case_id: str
    level: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """One folder of the data: `files` maps a JSON file name to the function that judges its cases.

    A judge gets one case and the suite's folder (for cases that name files beside the JSON).
    """

    folder: str
    files: Mapping[str, Callable[[Case, Path], Iterable[Check]]]
