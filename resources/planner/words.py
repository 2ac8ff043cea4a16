"""A plan for people: one line that answers the question, and a table. Markdown and plain text say the same."""

from __future__ import annotations

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from resources.planner.domain import DomainPlan
from resources.planner.night import NightPlan

__all__ = ["COLUMNS", "answer", "bytes_in_words", "clock", "plan_markdown", "plan_rows", "span_in_words"]

COLUMNS = ("domain", "due URLs", "requests", "bytes", "rate/s", "fetch", "ready at", "notes")


def clock(instant: float | None, zone: str | tzinfo = "UTC", *, like: float | None = None) -> str:
    """`02:13`, with the date where it is another day than that of `like`; "–" for none."""
    if instant is None:
        return "–"
    place = ZoneInfo(zone) if isinstance(zone, str) else zone
    local = datetime.fromtimestamp(instant, place)
    if like is not None and datetime.fromtimestamp(like, place).date() == local.date():
        return local.strftime("%H:%M")
    return local.strftime("%Y-%m-%d %H:%M")


def span_in_words(seconds: float | None) -> str:
    """`40 s`, `12 min`, `3 h 05 min`; "–" for none."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def bytes_in_words(number: float) -> str:
    """In the largest unit that keeps a number above one."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(number) < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def answer(plan: NightPlan, zone: str = "UTC") -> str:
    """Will it be ready? One sentence with the reason."""
    critical, like = plan.critical, plan.starts_at
    due = clock(plan.deadline, zone, like=plan.deadline)
    if critical is None:
        return "Nothing will be fetched: every domain is paused, or there is none."
    ready = clock(plan.ready_at, zone, like=like)
    because = f"{critical.domain} takes longest, {span_in_words(critical.seconds)} at {critical.rate:.3g}/s"
    match plan.verdict:
        case "no" if plan.late:
            names = ", ".join(d.domain for d in plan.late[:3]) + (
                f" and {len(plan.late) - 3} more" if len(plan.late) > 3 else ""
            )
            return f"Not ready by {due}: {names} would be ready at {ready} ({because})."
        case "no":
            return (
                f"Not ready by {due}: this machine would need until {ready} for {plan.requests:,} requests."
            )
        case "unknown":
            first = f"{len(plan.guessed)} domain{'s' * (len(plan.guessed) != 1)}"
            return f"Ready at about {ready}, but {first} have their first night, which can only be guessed."
        case _:
            return f"Ready at about {ready}, in time for {due}; {because}."


def plan_rows(plan: NightPlan, zone: str = "UTC") -> list[tuple[str, ...]]:
    """One row a domain, as `COLUMNS`."""
    return [_row(d, zone, plan.starts_at) for d in plan.domains]


def _row(d: DomainPlan, zone: str, like: float) -> tuple[str, ...]:
    return (
        d.domain,
        f"{d.urls:,}",
        f"{d.requests:,}",
        bytes_in_words(d.wire_bytes),
        f"{d.rate:.3g} ({d.why_rate})" if d.rate else "–",
        span_in_words(d.seconds),
        clock(d.ready_at, zone, like=like),
        "; ".join(d.notes),
    )


def plan_markdown(plan: NightPlan, zone: str = "UTC", at_most: int = 50) -> str:
    """The answer and a table of the domains that take longest."""
    lines = [f"**{answer(plan, zone)}**", "", "| " + " | ".join(COLUMNS) + " |"]
    lines.append("| --- " + "| ---: " * 3 + "| --- " * 4 + "|")
    for row in plan_rows(plan, zone)[:at_most]:
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |")
    if len(plan.domains) > at_most:
        lines += ["", f"and {len(plan.domains) - at_most:,} domains that are ready sooner"]
    return "\n".join(lines)
