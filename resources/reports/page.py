"""The report as one HTML page: nothing is loaded from anywhere, nothing runs; it can be mailed and kept.

Whatever came from a site (names, reasons, errors) is escaped. A content security policy in the page forbids
requests and scripts, should something get through all the same.
"""

from __future__ import annotations

from datetime import datetime
from html import escape
from zoneinfo import ZoneInfo

from resources.planner.words import span_in_words
from resources.reports.facts import NightFacts
from resources.reports.needs import needs
from resources.reports.sections import (
    changes_section,
    charts_section,
    domains_section,
    errors_section,
    forecast_section,
    needs_section,
    numbers_section,
    runs_section,
)

__all__ = ["headline", "night_page"]

STYLE = """
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1b2230;--soft:#5d6778;--rule:#e3e6eb;--c1:#2f6fde;
--c2:#0f9d7a;--c3:#e08a00;--c4:#d2344b;--act:#d2344b;--actbg:#fdecee;--look:#b26a00;--lookbg:#fff5e2;--good:#0b7f62}
@media(prefers-color-scheme:dark){:root{--bg:#12161d;--card:#1b212b;--ink:#e8ecf2;--soft:#98a3b5;--rule:#2c3441;
--c1:#6ea2ff;--c2:#3ccfa6;--c3:#ffb13d;--c4:#ff6b7f;--act:#ff6b7f;--actbg:#33191f;--look:#ffb13d;--lookbg:#2f2514;
--good:#3ccfa6}}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1120px;margin:0 auto;padding:14px 10px 40px}
header{padding:6px 4px 10px}h1{font-size:22px;margin:0}h1 small{font-weight:400;color:var(--soft);font-size:14px}
header p{margin:4px 0 0;font-size:17px}header p.good{color:var(--good)}header p.bad{color:var(--act)}
section{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px;margin:0 0 12px}
h2{font-size:16px;margin:0 0 8px}h2 small{font-weight:400;color:var(--soft);font-size:13px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(102px,1fr));gap:12px 8px}
.tiles div{min-width:0}.tiles b{display:block;font-size:21px;line-height:1.2;font-variant-numeric:tabular-nums}
.tiles span{color:var(--soft);font-size:12.5px}
.need{border-left:4px solid var(--look);background:var(--lookbg);border-radius:6px;padding:8px 10px;margin:0 0 8px}
.need.act{border-color:var(--act);background:var(--actbg)}.need b{overflow-wrap:anywhere}
.need p{margin:4px 0 0}.need ul{margin:6px 0 0;padding-left:18px;font-size:13.5px}.need li{overflow-wrap:anywhere}
.need .cure{color:var(--soft);font-size:14px}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(300px,1fr));gap:16px}
figure{margin:0;min-width:0}figcaption{display:flex;flex-wrap:wrap;gap:2px 12px;font-size:13.5px;margin:0 0 4px}
figcaption b{flex:1 0 auto}.legend{color:var(--soft)}.legend span{margin-left:10px;white-space:nowrap}
.legend i{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:4px}
svg{display:block;width:100%;height:auto}svg text{font-size:10.5px;fill:var(--soft)}.grid{stroke:var(--rule)}
.none{color:var(--soft);margin:8px 0}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.fill{opacity:.14}.tip{fill:transparent}
.tip:hover{fill:var(--soft);opacity:.14}
.line.c1{stroke:var(--c1)}.line.c2{stroke:var(--c2)}.line.c3{stroke:var(--c3)}.line.c4{stroke:var(--c4)}
.fill.c1,.bar.c1{fill:var(--c1)}.fill.c2,.bar.c2{fill:var(--c2)}.bar.c3{fill:var(--c3)}.bar.c4{fill:var(--c4)}
i.c1{background:var(--c1)}i.c2{background:var(--c2)}i.c3{background:var(--c3)}i.c4{background:var(--c4)}
.wide+h2{margin-top:16px}.wide+.wide{margin-top:12px}
.wide{overflow-x:auto;-webkit-overflow-scrolling:touch}
table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}
th{text-align:left;color:var(--soft);font-weight:500;border-bottom:1px solid var(--rule);white-space:nowrap}
td,th{padding:4px 12px 4px 0;vertical-align:top}td{border-bottom:1px solid var(--rule)}
tr:last-child td{border-bottom:0}.n{text-align:right;white-space:nowrap}td.name{white-space:nowrap}
.mark{display:inline-block;font-size:12px;border-radius:4px;padding:0 6px;margin-left:6px}
.mark.bad{background:var(--actbg);color:var(--act)}.mark.warn{background:var(--lookbg);color:var(--look)}
.share{display:flex;align-items:center;gap:8px;margin:0 0 9px}.share .what{flex:0 0 118px;overflow-wrap:anywhere}
.share .bar{flex:1;height:12px;border-radius:3px;min-width:30px}.share .bar i{display:block;height:12px;border-radius:3px}
.share .many{flex:0 0 56px;text-align:right;font-variant-numeric:tabular-nums}
.why{color:var(--soft);font-size:13px;margin:-6px 0 10px}
footer{color:var(--soft);font-size:12.5px;padding:0 4px}
@media(max-width:520px){.opt{display:none}td,th{padding-right:9px}.mark{display:block;width:max-content;margin:0}}
"""


def headline(facts: NightFacts) -> tuple[str, bool]:
    """(one sentence on how the night went, whether all is well)."""
    n, urgent = len(facts.domains), [x for x in needs(facts) if x.urgency == "act"]
    if not n:
        return "No domain took part in this night.", False
    if not urgent:
        return f"All {n:,} domain{'s' * (n != 1)} went through; nothing needs you urgently.", True
    hurt = len({d for need in urgent for d, _ in need.domains})
    causes = f"{len(urgent)} cause{'s' * (len(urgent) != 1)}"
    need = "needs" if hurt == 1 else "need"
    return f"{facts.good:,} of {n:,} domains went through; {hurt:,} {need} you, for {causes}.", False


def night_page(facts: NightFacts) -> str:
    """The whole page."""
    place = ZoneInfo(facts.zone)
    start = datetime.fromtimestamp(facts.started_at, place)
    sentence, well = headline(facts)
    body = "".join(
        (
            needs_section(facts),
            numbers_section(facts),
            charts_section(facts),
            errors_section(facts),
            changes_section(facts),
            domains_section(facts),
            forecast_section(facts),
            runs_section(facts),
        )
    )
    made = datetime.fromtimestamp(facts.made_at, place).strftime("%Y-%m-%d %H:%M")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>Night {escape(facts.night)}</title><style>{STYLE}</style></head><body><main>"
        f"<header><h1>Night {escape(facts.night)} <small>from {start:%H:%M}, "
        f"{span_in_words(facts.seconds)}</small></h1>"
        f'<p class="{"good" if well else "bad"}">{escape(sentence)}</p></header>'
        f"{body}<footer>Nightcrawl, made {made} ({escape(facts.zone)}). Times are of that zone.</footer>"
        "</main></body></html>\n"
    )
