"""The lines that stand at a publication and at the checks that hold one back."""

from __future__ import annotations

from crawl_assets.checks.audit import audit_findings
from crawl_assets.stages.against_published import LABEL, against_published
from resources.warehouse.publish.audit import AuditProblem
from resources.warehouse.publish.changes import ColumnChange, TableChange

DOMAIN = "shop.example"
PRICE = ColumnChange("price", 1_200, "isbn-1", "9.99", "")
BOOK = TableChange("book", 4_000, 2_000, 3, 2_003, 1_200, ("a", "b", "c"), ("x|y", "z"), (PRICE,))


def test_it_says_what_changes_with_examples_and_the_command_for_the_rest() -> None:
    text = against_published(DOMAIN, [BOOK]).value or ""
    assert "| book | 4,000 | 2,000 | 3 | 2,003 | 1,200 |" in text
    assert "- book, new: a, b, c\n" in text
    assert "- book, gone: x\\|y, z and 2,001 more" in text
    assert "- book, `price` of 1,200: isbn-1: 9.99 → (nothing)" in text
    assert f"nightcrawl publish --diff {DOMAIN}" in text


def test_it_is_short_where_nothing_changes() -> None:
    same = [TableChange("pages", 10, 10), TableChange("book", 4, 4)]
    assert "Nothing changes" in (against_published(DOMAIN, same).value or "")
    many = against_published(DOMAIN, [TableChange("links", 10**7, 10**7, compared=False)]).value or ""
    assert "too many rows" in many and "Nothing changes" not in many


def test_it_is_bounded_whatever_changed() -> None:
    columns = tuple(ColumnChange(f"c{n}", 9, "k" * 5_000, "b" * 60, "a" * 60) for n in range(300))
    tables = [
        TableChange(f"t{n}", 9, 9, 9, 9, 9, ("n" * 5_000,) * 3, ("g" * 5_000,) * 3, columns)
        for n in range(50)
    ]
    assert len(against_published(DOMAIN, tables).value or "") < 12_000


def test_it_stands_only_at_checks_that_hold_rows_back() -> None:
    more = {LABEL: against_published(DOMAIN, [BOOK])}
    found = audit_findings([AuditProblem("rejects", "book", "half of them")], {"book": 2_000}, more=more)
    assert {name for name, finding in found.items() if LABEL in finding.numbers} == {"rejects"}
