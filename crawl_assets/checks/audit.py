"""The audit of a domain's tables as four checks: `row_drift`, `field_coverage`, `uniqueness`, `rejects`.

They block: a domain that fails one keeps last night's rows published. The rules and their limits are those of the
site file's `quality`; the warehouse evaluates them (resources/warehouse/publish/audit.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

from crawl_assets.checks.finding import Finding, domain_check

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.warehouse.publish.audit import AuditProblem

__all__ = ["FORGIVABLE", "RULES", "SPECS", "audit_findings"]

ROW_DRIFT = domain_check(
    "row_drift",
    "pages",
    "As many pages and items as the median of the last nights, within quality.max_drop. A night that was cut short "
    "raises no alarm: its rows are not all there yet, and none were lost. When red: the cause is named; a wall shows "
    "in ban_signals, a layout change in rejects, a sitemap that shrank in coverage.",
    blocking=True,
)
UNIQUENESS = domain_check(
    "uniqueness",
    "pages",
    "No row twice, every link and item from a current page. When red: a defect; run `reparse` with parse_all and "
    "report it.",
    blocking=True,
)
FIELD_COVERAGE = domain_check(
    "field_coverage",
    "items",
    "Optional fields that used to be filled still are (quality.min_field_coverage). When red: the site's layout has "
    "changed; compare a stored page with the selectors of the site file and mend them.",
    blocking=True,
)
REJECTS = domain_check(
    "rejects",
    "items",
    "Few item rows failed their types or required fields (quality.max_rejects). When red: read `rejected_items`: the "
    "reason and the raw values stand there; mend the selector, then the tables are made again without a request.",
    blocking=True,
)

#: In the order in which a reason is looked for: rejected rows explain missing ones, not the other way round.
SPECS = (UNIQUENESS, REJECTS, FIELD_COVERAGE, ROW_DRIFT)

#: Which rules of the warehouse's audit each check answers for.
RULES: Mapping[str, frozenset[str]] = {
    ROW_DRIFT.name: frozenset({"row_drop", "empty"}),
    UNIQUENESS.name: frozenset({"duplicate_rows", "orphan_rows"}),
    FIELD_COVERAGE.name: frozenset({"field_coverage"}),
    REJECTS.name: frozenset({"rejects"}),
}
#: Rules that a night which was cut short breaks without any fault.
FORGIVABLE = RULES[ROW_DRIFT.name]


def audit_findings(
    problems: Sequence[AuditProblem],
    rows: Mapping[str, int],
    *,
    cut_short: str = "",
    causes: str = "",
    more: Mapping[str, Any] | None = None,
) -> dict[str, Finding]:
    """A finding per check. `cut_short`: what ended the night early, in words; `causes`: what else was seen tonight;
    `more`: metadata for checks that hold rows back."""
    numbers: dict[str, Any] = {f"rows {table}": n for table, n in sorted(rows.items())}
    found = {}
    others = sorted({f"{p.rule} in {p.table}" for p in problems if p.rule not in FORGIVABLE})
    for name, rules in RULES.items():
        mine = [p for p in problems if p.rule in rules]
        shown = numbers | {"problems": len(mine)}
        if not mine:
            found[name] = Finding(True, "as it should be", shown)
            continue
        words = "; ".join(p.message for p in mine[:3])
        if cut_short and rules == FORGIVABLE:
            found[name] = Finding(True, f"no alarm, the night was cut short ({cut_short}): {words}", shown)
            continue
        if seen := ", ".join(w for w in (causes, *others) if w and rules == FORGIVABLE):
            words = f"{words}. Seen tonight: {seen}"
        shown["all"] = dg.MetadataValue.md("\n".join(f"- {p}" for p in mine))
        found[name] = Finding(False, words, shown | dict(more or {}))
    return found
