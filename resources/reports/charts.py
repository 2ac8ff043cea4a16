"""Charts as inline SVG: no script, no request. Numbers in, text out; sized to be read on a phone without zooming.

Colours are classes (`c1` … `c4`) that the page's style sheet defines for light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from zoneinfo import ZoneInfo

__all__ = ["Series", "compact", "time_chart"]

#: A phone's width less the margins: one unit of the drawing is one pixel there.
WIDTH, HEIGHT = 340.0, 150.0
LEFT, RIGHT, TOP, BOTTOM = 38.0, 6.0, 8.0, 20.0


@dataclass(frozen=True, slots=True)
class Series:
    """One line or stack of bars. `values`: one for each instant; None: a gap."""

    name: str
    colour: str
    values: Sequence[float | None]


def compact(number: float) -> str:
    """At most four characters: 0.25, 7, 12k, 3.4M."""
    size = abs(number)
    for limit, divisor, unit in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if size >= limit:
            scaled = number / divisor
            return f"{scaled:.0f}{unit}" if abs(scaled) >= 10 else f"{scaled:.1f}{unit}"
    if size >= 10 or number == round(number):
        return f"{number:,.0f}".replace(",", "")
    return f"{number:.1f}" if size >= 1 else f"{number:.2g}"


#: What is less is drawn as nothing: no figure of a night is, and powers of ten end where floats do.
_NOTHING = 1e-9


def _nice_top(highest: float) -> float:
    """The least of 1, 2, 4, 5 or 10 times a power of ten that is not below `highest`."""
    if highest < _NOTHING:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(power * step for step in (1, 2, 4, 5, 10) if power * step >= highest * 0.999)


def time_chart(
    title: str,
    times: Sequence[float],
    series: Sequence[Series],
    *,
    zone: str = "UTC",
    stacked: bool = False,
    whole: bool = False,
    unit: str = "",
) -> str:
    """A chart over time. `stacked`: bars on top of each other, else lines (the first one filled).

    `whole`: the values are counts, so the axis has no fractions.
    """
    legend = "".join(f'<span><i class="{s.colour}"></i>{escape(s.name)}</span>' for s in series)
    head = f'<figcaption><b>{escape(title)}</b><span class="legend">{legend}</span></figcaption>'
    if not times or not any(v for s in series for v in s.values):
        return f'<figure>{head}<p class="none">nothing to draw</p></figure>'
    totals = [sum(s.values[i] or 0.0 for s in series) for i in range(len(times))]
    highest = max(totals) if stacked else max(v for s in series for v in s.values if v is not None)
    top = max(_nice_top(highest), 2.0 if whole else 0.0)
    first, last = times[0], times[-1]
    step = (last - first) / (len(times) - 1) if len(times) > 1 else 1.0
    span = (last - first + (step if stacked else 0.0)) or 1.0
    inner = WIDTH - LEFT - RIGHT

    def x(at: float) -> float:
        return LEFT + (at - first) / span * inner

    def y(value: float) -> float:
        return TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM)

    parts = [_grid(top, y), _clock_axis(first, first + span, x, zone)]
    if stacked:
        parts.append(_bars(times, series, step, x, y))
    else:
        parts += [_line(times, s, x, y, filled=i == 0) for i, s in enumerate(series)]
    parts.append(_tips(times, series, step, x, zone, unit))
    return (
        f'<figure>{head}<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{escape(title)}">'
        + "".join(parts)
        + "</svg></figure>"
    )


def _grid(top: float, y: Callable[[float], float]) -> str:
    lines = []
    for value in (0.0, top / 2, top):
        at = y(value)
        lines.append(f'<line class="grid" x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{at:.1f}" y2="{at:.1f}"/>')
        lines.append(f'<text x="{LEFT - 5:g}" y="{at + 3.5:.1f}" text-anchor="end">{compact(value)}</text>')
    return "".join(lines)


#: Distances between the marks of a clock axis, in seconds.
_MARKS = (1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800)


def _clock_axis(first: float, last: float, x: Callable[[float], float], zone: str) -> str:
    place = ZoneInfo(zone)
    gap = next((m for m in _MARKS if (last - first) / m <= 4), _MARKS[-1])
    shape = "%H:%M:%S" if gap < 60 else "%H:%M" if gap < 86400 else "%d.%m."
    offset = datetime.fromtimestamp(first, place).utcoffset()
    shift = offset.total_seconds() if offset is not None else 0.0
    at = math.ceil((first + shift) / gap) * gap - shift
    marks = []
    while at <= last:
        here = x(at)
        anchor = "start" if here < LEFT + 14 else "end" if here > WIDTH - RIGHT - 14 else "middle"
        text = datetime.fromtimestamp(at, place).strftime(shape)
        marks.append(f'<text x="{here:.1f}" y="{HEIGHT - 5:g}" text-anchor="{anchor}">{text}</text>')
        at += gap
    return "".join(marks)


def _line(
    times: Sequence[float],
    series: Series,
    x: Callable[[float], float],
    y: Callable[[float], float],
    *,
    filled: bool,
) -> str:
    stretches: list[list[tuple[float, float]]] = [[]]
    for at, value in zip(times, series.values, strict=True):
        if value is None:
            stretches.append([])
        else:
            stretches[-1].append((x(at), y(value)))
    parts = []
    for points in filter(None, stretches):
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        if filled:
            floor = y(0.0)
            parts.append(
                f'<polygon class="fill {series.colour}" points="{points[0][0]:.1f},{floor:.1f} {path} '
                f'{points[-1][0]:.1f},{floor:.1f}"/>'
            )
        parts.append(f'<polyline class="line {series.colour}" points="{path}"/>')
    return "".join(parts)


def _bars(
    times: Sequence[float],
    series: Sequence[Series],
    step: float,
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> str:
    width = max(1.0, (x(times[0] + step) - x(times[0])) * 0.8)
    parts = []
    for i, at in enumerate(times):
        floor = 0.0
        for s in series:
            value = s.values[i] or 0.0
            if value > 0:
                above, below = y(floor + value), y(floor)
                parts.append(
                    f'<rect class="bar {s.colour}" x="{x(at):.1f}" y="{above:.1f}" width="{width:.1f}" '
                    f'height="{max(0.5, below - above):.1f}"/>'
                )
            floor += value
    return "".join(parts)


def _tips(
    times: Sequence[float],
    series: Sequence[Series],
    step: float,
    x: Callable[[float], float],
    zone: str,
    unit: str,
) -> str:
    """Invisible columns that show their numbers when pointed at."""
    place = ZoneInfo(zone)
    width = max(1.0, x(times[0] + step) - x(times[0]))
    parts = []
    for i, at in enumerate(times):
        numbers = [f"{s.name} {compact(v)}{unit}" for s in series if (v := s.values[i]) is not None]
        when = datetime.fromtimestamp(at, place).strftime("%H:%M:%S")
        parts.append(
            f'<rect class="tip" x="{x(at):.1f}" y="{TOP:g}" width="{width:.1f}" height="{HEIGHT - TOP - BOTTOM:g}">'
            f"<title>{escape(' · '.join([when, *numbers]))}</title></rect>"
        )
    return "".join(parts)
