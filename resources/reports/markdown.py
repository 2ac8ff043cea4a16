"""The report as Markdown, for the UI: the same facts, shorter, with charts of block characters."""

from __future__ import annotations

from collections.abc import Sequence

from resources.planner.words import bytes_in_words, clock, span_in_words
from resources.reports.facts import NightFacts
from resources.reports.needs import needs
from resources.reports.page import headline
from resources.reports.sections import queue_series

__all__ = ["night_markdown", "sparkline"]

_BLOCKS = "▁▂▃▄▅▆▇█"
#: Characters of a chart: fits the UI's narrowest column.
WIDTH = 48
NAMED = 5


def sparkline(values: Sequence[float], width: int = WIDTH) -> str:
    """One character a stretch of values, its mean as height; empty for nothing."""
    if not values:
        return ""
    n = min(width, len(values))
    means = []
    for i in range(n):
        part = values[i * len(values) // n : (i + 1) * len(values) // n]
        means.append(sum(part) / len(part))
    top = max(means)
    if top <= 0:
        return _BLOCKS[0] * n
    return "".join(_BLOCKS[min(7, int(m / top * 7.999))] if m > 0 else _BLOCKS[0] for m in means)


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")


def night_markdown(facts: NightFacts) -> str:
    """A page of the UI's metadata: what needs a human first."""
    sentence, _ = headline(facts)
    lines = [f"## Night {facts.night}", "", f"**{sentence}**", ""]
    for need in needs(facts):
        todo = "To do" if need.urgency == "act" else "To look at"
        lines += [f"**{todo}: {_cell(need.title)}.** {_cell(need.cure)}", ""]
        lines += [f"- `{_cell(domain)}` {_cell(words)}" for domain, words in need.domains[:NAMED]]
        if len(need.domains) > NAMED:
            lines.append(f"- and {len(need.domains) - NAMED:,} more")
        lines.append("")
    for m in facts.mended[:NAMED]:
        at = clock(m.at, facts.zone, like=facts.started_at)
        lines.append(f"- `{_cell(m.domain)}` mended at {at} by {m.by}; it was: {_cell(m.was)}")
    if len(facts.mended) > NAMED:
        lines.append(f"- and {len(facts.mended) - NAMED:,} more mended")
    lines += ["", *_charts(facts)] if facts.mended else _charts(facts)
    lines += [
        "| pages | requests | cache hits | 429 and 503 | received | left in the queue | time |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        f"| {facts.pages:,} | {facts.requests:,} | {facts.unchanged:,} | {facts.throttled:,} | "
        f"{bytes_in_words(facts.wire_bytes)} | {facts.pending:,} | {span_in_words(facts.seconds)} |",
        "",
    ]
    if facts.tables:
        lines += ["| table | new | changed | gone | rows |", "| --- | ---: | ---: | ---: | ---: |"]
        for t in facts.tables:
            cells = ["–" if n is None else f"{n:,}" for n in (t.new, t.changed, t.gone)]
            lines.append(f"| {t.table} | {' | '.join(cells)} | {t.now:,} |")
        lines.append("")
    if facts.errors:
        lines += ["| error | requests | domains | what mends it |", "| --- | ---: | ---: | --- |"]
        lines += [
            f"| {_cell(e.cause)} | {e.requests:,} | {e.domains:,} | {_cell(e.cure)} |"
            for e in facts.errors[:10]
        ]
        lines.append("")
    c = facts.comparison
    if c is not None:
        planned = clock(c.planned_ready_at, facts.zone, like=facts.started_at)
        ready = clock(c.ready_at, facts.zone, like=facts.started_at)
        lines.append(
            f"Forecast: {c.planned_requests:,} requests, ready at {planned}. "
            f"Actual: {c.requests:,} requests, ready at {ready} ({facts.zone})."
        )
    return "\n".join(lines)


def _charts(facts: NightFacts) -> list[str]:
    _, waiting = queue_series(facts.queue)
    rows = [
        ("requests/s", [b.requests / facts.bucket_s for b in facts.buckets]),
        ("429, 503", [float(b.throttled) for b in facts.buckets]),
        ("errors", [float(b.forbidden + b.errors) for b in facts.buckets]),
        ("queue", [v or 0.0 for v in waiting]),
    ]
    drawn = [
        f"{name:<11}{sparkline(values)}  at most {max(values):,.3g}" for name, values in rows if any(values)
    ]
    return ["```", *drawn, "```", ""] if drawn else []
