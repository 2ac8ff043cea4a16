"""The sections of the page, in the order a reader needs them. Each takes the facts and gives HTML, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from resources.planner.words import bytes_in_words, clock, span_in_words
from resources.reports.charts import Series, time_chart
from resources.reports.facts import DomainNight, NightFacts, QueuePoint
from resources.reports.needs import needs

__all__ = [
    "changes_section",
    "charts_section",
    "domains_section",
    "errors_section",
    "forecast_section",
    "needs_section",
    "numbers_section",
    "queue_series",
    "runs_section",
]

#: Rows of a table: a page is for reading, the tables hold the rest.
SHOWN = 40
#: Domains named under one need.
NAMED = 8


def _section(title: str, body: str, note: str = "") -> str:
    small = f" <small>{escape(note)}</small>" if note else ""
    return f"<section><h2>{escape(title)}{small}</h2>{body}</section>"


def _prose(text: str) -> str:
    """Text of ours, with the little Markdown that descriptions have."""
    code = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*([a-z ]+)\*", r"<em>\1</em>", code)


def _share(part: float, whole: float) -> str:
    """A percentage that never rounds something to nothing."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    return "< 0.1 %" if 0 < percent < 0.1 else f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], classes: Sequence[str]) -> str:
    """Cells are HTML already. `classes`: of each column (`n` number, `opt` not on a phone, `name` unbroken)."""
    marks = [f' class="{c}"' if c else "" for c in classes]
    head = "".join(f"<th{c}>{escape(h)}</th>" for h, c in zip(heads, marks, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{c}>{cell}</td>" for cell, c in zip(row, marks, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _more(total: int, shown: int, words: str) -> str:
    return f'<p class="none">and {total - shown:,} more: {words}</p>' if total > shown else ""


def needs_section(facts: NightFacts) -> str:
    """What a human has to do, or that there is nothing."""
    found = needs(facts)
    if not found:
        nothing = '<p class="none">Nothing. Every domain is fresh and published.</p>'
        return _section("Needs you", nothing + _mended(facts))
    parts = []
    for need in found:
        named = "".join(
            f"<li><b>{escape(domain)}</b> {escape(words)}</li>" for domain, words in need.domains[:NAMED]
        )
        more = f"<li>and {len(need.domains) - NAMED:,} more</li>" if len(need.domains) > NAMED else ""
        n = len(need.domains)
        parts.append(
            f'<div class="need {need.urgency}"><b>{escape(need.title)}</b>'
            f'{f" · {n:,}" if n > 1 else ""}<p class="cure">{_prose(need.cure)}</p><ul>{named}{more}</ul></div>'
        )
    return _section("Needs you", "".join(parts) + _mended(facts))


def _mended(facts: NightFacts) -> str:
    """What fell in the night and is well by now."""
    rows = "".join(
        f"<li><b>{escape(m.domain)}</b> mended at {clock(m.at, facts.zone, like=facts.started_at)} by "
        f"{escape(m.by)}; it was: {escape(m.was)}</li>"
        for m in facts.mended[:NAMED]
    )
    more = f"<li>and {len(facts.mended) - NAMED:,} more</li>" if len(facts.mended) > NAMED else ""
    return f'<div class="need"><b>mended since</b><ul>{rows}{more}</ul></div>' if rows else ""


def numbers_section(facts: NightFacts) -> str:
    """The tiles."""
    pages = facts.table("pages")
    tiles = [
        (f"{facts.pages:,}", "pages"),
        (f"{facts.requests:,}", "requests"),
        (
            f"{pages.new:,} / {pages.changed:,}" if pages and pages.new is not None else "–",
            "new / changed pages",
        ),
        (_share(facts.unchanged, facts.pages), "cache hits (304 or fresh)"),
        (_share(facts.throttled, facts.requests), "429 and 503"),
        (bytes_in_words(facts.wire_bytes), "received"),
        (f"{facts.requests / facts.seconds:.1f}/s" if facts.seconds else "–", "requests, mean"),
        (f"{facts.pending:,}", "URLs left in the queue"),
    ]
    cells = "".join(f"<div><b>{escape(n)}</b><span>{escape(words)}</span></div>" for n, words in tiles)
    return _section("In numbers", f'<div class="tiles">{cells}</div>')


def queue_series(points: Sequence[QueuePoint]) -> tuple[list[float], list[float | None]]:
    """(instants, queue) of the points in order."""
    ordered = sorted(points, key=lambda p: p.at)
    return [p.at for p in ordered], [float(p.queue) if p.queue is not None else None for p in ordered]


def charts_section(facts: NightFacts) -> str:
    """Throughput, queue and trouble over time, and the nights before."""
    times = [b.at for b in facts.buckets]
    size = facts.bucket_s
    charts = [
        time_chart(
            "Throughput, per second",
            times,
            [
                Series("requests", "c1", [b.requests / size for b in facts.buckets]),
                Series("pages", "c2", [b.pages / size for b in facts.buckets]),
            ],
            zone=facts.zone,
            unit="/s",
        ),
        time_chart(
            "Trouble",
            times,
            [
                Series("429 503", "c3", [float(b.throttled) for b in facts.buckets]),
                Series("403 walls", "c4", [float(b.forbidden) for b in facts.buckets]),
                Series("other", "c1", [float(b.errors) for b in facts.buckets]),
            ],
            zone=facts.zone,
            stacked=True,
            whole=True,
        ),
    ]
    when, queue = queue_series(facts.queue)
    charts.insert(
        1,
        time_chart(
            "Queue, URLs waiting", when, [Series("waiting", "c1", queue)], zone=facts.zone, whole=True
        ),
    )
    return _section(
        "The night over time",
        f'<div class="charts">{"".join(charts)}</div>',
        f"in steps of {span_in_words(size)}",
    )


def errors_section(facts: NightFacts) -> str:
    """One bar a cause, with what mends it."""
    if not facts.errors:
        return _section("Errors by class", '<p class="none">Not one request failed.</p>')
    most = max(e.requests for e in facts.errors)
    parts = []
    for e in facts.errors[:SHOWN]:
        width = 100 * e.requests / most
        left = f", {e.urls:,} dead letter{'s' * (e.urls != 1)}" if e.urls else ""
        where = f"on {e.domains:,} domain{'s' * (e.domains != 1)}{left}"
        parts.append(
            f'<div class="share"><span class="what">{escape(e.cause)}</span>'
            f'<span class="bar"><i class="c4" style="width:{width:.1f}%"></i></span>'
            f'<span class="many">{e.requests:,}</span></div>'
            f'<p class="why">{escape(where)}. {escape(e.cure)}</p>'
        )
    return _section("Errors by class", "".join(parts), "requests, those tried again included")


def changes_section(facts: NightFacts) -> str:
    """What came, changed and went, by table."""
    if not facts.tables:
        return _section("What changed", '<p class="none">No table was loaded.</p>')

    def cell(number: int | None) -> str:
        return "–" if number is None else f"{number:,}"

    rows = [
        (escape(t.table), cell(t.new), cell(t.changed), cell(t.gone), f"{t.before:,}", f"{t.now:,}")
        for t in facts.tables
    ]
    heads = ("table", "new", "changed", "gone", "rows before", "rows now")
    return _section(
        "What changed", _table(heads, rows, ("name", "n", "n", "n", "n opt", "n")), "rows by table"
    )


def _marks(d: DomainNight, out: frozenset[str]) -> str:
    if d.domain in out:
        return '<span class="mark bad">failed</span>'
    if d.paused_cause:
        return '<span class="mark bad">paused</span>'
    if d.stale:
        return '<span class="mark bad">stale</span>'
    if d.pending:
        return f'<span class="mark warn">{d.pending:,} left</span>'
    return ""


def domains_section(facts: NightFacts) -> str:
    """Pace, 429s, hits and errors of each domain: those in trouble first, then the largest."""
    out = frozenset(f.domain for f in facts.fallen)
    ordered = sorted(
        facts.domains,
        key=lambda d: (not (d.domain in out or d.paused_cause or d.stale), -d.requests, d.domain),
    )
    rows = []
    for d in ordered[:SHOWN]:
        rate = f"{d.rate:.3g}" if d.rate is not None else "–"
        limit = f"{d.limit_rate:.3g}" if d.limit_rate is not None else "–"
        p95 = f"{d.p95_ttfb_ms:,.0f}" if d.p95_ttfb_ms is not None else "–"
        bad = d.errors + d.forbidden + d.walls
        rows.append(
            (
                escape(d.domain) + _marks(d, out),
                f"{d.requests:,}",
                f"{d.pages:,}",
                _share(d.unchanged, d.pages),
                f"{d.throttled:,}",
                f"{bad:,}",
                rate,
                limit,
                p95,
                bytes_in_words(d.wire_bytes),
            )
        )
    heads = (
        "domain",
        "requests",
        "pages",
        "cache hits",
        "429s",
        "errors",
        "rate/s",
        "limit/s",
        "p95 ms",
        "received",
    )
    classes = ("name", "n", "n opt", "n", "n", "n", "n", "n opt", "n opt", "n opt")
    body = _table(heads, rows, classes) + _more(len(ordered), SHOWN, "select * from domains")
    return _section(
        "Domains", body, "hits: of the cache; rate: where the night ended; limit: the server's, as understood"
    )


def forecast_section(facts: NightFacts) -> str:
    """The plan against the night."""
    c = facts.comparison
    if c is None:
        return _section("Forecast against actual", '<p class="none">No plan was made before this night.</p>')
    zone, like = facts.zone, facts.started_at
    rows = [
        ("requests", f"{c.planned_requests:,}", f"{c.requests:,}"),
        ("received", bytes_in_words(c.planned_bytes), bytes_in_words(c.wire_bytes)),
        ("ready at", clock(c.planned_ready_at, zone, like=like), clock(c.ready_at, zone, like=like)),
        ("deadline", clock(c.deadline, zone, like=like), "missed" if c.late_s else "kept"),
    ]
    parts = [_table(("", "forecast", "actual"), rows, ("name", "n", "n"))]
    listed = [d for d in c.domains if d.words] + [d for d in c.domains if not d.words]
    lines = [
        (
            escape(d.domain),
            f"{d.planned_requests:,}",
            f"{d.requests:,}",
            span_in_words(d.planned_s),
            span_in_words(d.seconds),
            escape(d.words),
        )
        for d in listed[:10]
    ]
    heads = ("domain", "planned", "requests", "planned time", "time", "")
    if lines:
        parts.append(_table(heads, lines, ("name", "n", "n", "n opt", "n opt", "")))
    note = f"{c.guesses} first night{'s' * (c.guesses != 1)}: guessed, not judged" if c.guesses else ""
    return _section("Forecast against actual", "".join(parts), note)


def runs_section(facts: NightFacts) -> str:
    """The runs and the nights before this one."""
    rows = []
    for r in facts.runs[:SHOWN]:
        name = escape(r.run_id[:8])
        shown = (
            f'<a href="{escape(r.link)}">{name}</a>' if r.link.startswith(("http://", "https://")) else name
        )
        bad = "" if r.status == "SUCCESS" else ' <span class="mark warn">look</span>'
        rows.append(
            (
                shown,
                escape(r.job),
                escape(r.status.lower()) + bad,
                f"{r.domains:,}",
                clock(r.started_at, facts.zone, like=facts.started_at),
                span_in_words(r.ended_at - r.started_at),
            )
        )
    heads = ("run", "job", "end", "domains", "from", "for")
    body = _table(heads, rows, ("name", "name", "name", "n", "n", "n"))
    if len(facts.history) > 1:
        nights = [(escape(t.night), f"{t.requests:,}", f"{t.throttled:,}") for t in reversed(facts.history)]
        body += "<h2>Nights before</h2>" + _table(("night", "requests", "429s"), nights, ("name", "n", "n"))
    return _section("Runs", body)
