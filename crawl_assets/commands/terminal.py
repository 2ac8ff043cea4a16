"""How commands speak: numbers, times and tables as people read them, JSON as programs do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from .failures import without_secrets

__all__ = ["count", "instant", "say", "say_json", "share", "size", "span", "table"]


def say(text: str = "") -> None:
    """A line on standard output, without secrets."""
    print(without_secrets(text))


def say_json(value: Any) -> None:
    """One JSON document on standard output: bytes as hex, sets as lists, unknown objects as text."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False, default=_plain, allow_nan=False)
    sys.stdout.write("\n")


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    return str(value)


def count(number: float) -> str:
    return f"{number:,.0f}"


def share(part: float, whole: float) -> str:
    """A percentage with one decimal, "–" of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def size(number: float) -> str:
    """Bytes in the largest unit that keeps a number above one."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(number) < 1000 or unit == "TB":
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    raise AssertionError("unreachable")


def span(seconds: float | None) -> str:
    """`42 s`, `3 min 05 s`, `2 h 10 min`, `4 d 3 h`; "–" if it cannot be told."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def instant(epoch: float | None) -> str:
    """UTC to the second; "–" for none."""
    if epoch is None or epoch <= 0:
        return "–"
    try:
        return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return "far away"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = ()) -> None:
    """Aligned columns; on a narrow terminal long cells are folded by rich, in a pipe nothing is cut."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    numbers = set(right)
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        shown.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(without_secrets(cell)) for cell in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=10_000)
    console.print(shown, soft_wrap=not console.is_terminal)
