"""Durations, sizes and rates as people write them in YAML.

90        -> 90 s          "2/s"     -> 2 requests a second
"15m"     -> 900 s         "30/min"  -> 0.5
"1d 12h"  -> 129600 s      "100/h"   -> 0.0278
"20 MB"   -> 20_000_000    "unlimited" -> inf,  "auto" -> None
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

__all__ = ["ByteCount", "Duration", "Rate", "format_duration", "parse_bytes", "parse_duration", "parse_rate"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|d|w)\b\s*")
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)?\s*(s|sec|second|m|min|minute|h|hour|d|day)")
_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)(i?)b?", re.IGNORECASE)


def parse_duration(value: Any) -> float:
    """Seconds, from a number or text such as "15m" or "1d 12h". ValueError says what is accepted."""
    if isinstance(value, bool):
        raise ValueError("expected a duration such as 30, '15m' or '7d', not a boolean")
    if isinstance(value, int | float):
        seconds = float(value)
    else:
        text = str(value).strip().lower()
        parts = _DURATION.findall(text)
        if text.replace(".", "", 1).isdigit():
            seconds = float(text)
        elif parts and not _DURATION.sub("", text).strip():
            seconds = sum(float(n) * _UNITS[unit] for n, unit in parts)
        else:
            raise ValueError(
                f"{value!r} is no duration: write seconds (30) or units as in '15m', '36h', '7d'"
            )
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError(f"{value!r} is no duration: it must be zero or more and finite")
    return seconds


def format_duration(seconds: float) -> str:
    """The shortest exact form people read: 5400 -> "1h 30m"."""
    left, parts = round(seconds, 3), []
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("m", 60.0)):
        count = int(left // size)
        if count:
            parts.append(f"{count}{unit}")
            left -= count * size
    if left or not parts:
        parts.append(f"{left:g}s")
    return " ".join(parts)


def parse_rate(value: Any) -> float | None:
    """Requests per second; None for "auto", infinity for "unlimited"."""
    if value is None:
        return None
    text = str(value).strip().lower()
    if text == "auto":
        return None
    if text == "unlimited":
        return math.inf
    if match := _RATE.fullmatch(text):
        count, per, unit = match.groups()
        scale = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}[unit[0]]
        period = float(per or 1) * scale
        rate = float(count) / period if period else math.inf
    else:
        try:
            rate = float(text)
        except ValueError:
            raise ValueError(
                f"{value!r} is no rate: write 'auto', 'unlimited', a number (requests a second) or '30/min'"
            ) from None
    if isinstance(value, bool) or not (rate > 0 and math.isfinite(rate)):
        raise ValueError(f"{value!r} is no rate: it must be above zero; to stop a site remove its file")
    return rate


def parse_bytes(value: Any) -> int:
    """A number of bytes, from a number or text such as "20 MB" (SI) or "20 MiB" (binary)."""
    match = _BYTES.fullmatch(str(value).strip())
    if isinstance(value, bool) or not match:
        raise ValueError(f"{value!r} is no size: write bytes (200000) or '200 kB', '20 MB', '1 GiB'")
    number, prefix, binary = match.groups()
    base = 1024 if binary else 1000
    return int(float(number) * base ** " kmg".index(prefix.lower() or " "))


def _text_or_number(description: str) -> WithJsonSchema:
    return WithJsonSchema({"type": ["string", "number"], "description": description})


Duration = Annotated[
    float, BeforeValidator(parse_duration), _text_or_number("Seconds, or units as in '15m', '36h', '7d'.")
]
Rate = Annotated[
    float | None,
    BeforeValidator(parse_rate),
    _text_or_number("'auto', 'unlimited', requests a second, or '30/min'."),
]
ByteCount = Annotated[
    int, BeforeValidator(parse_bytes), _text_or_number("Bytes, or '200 kB', '20 MB', '1 GiB'.")
]
