"""docs/tables.md is what the SQL says now."""

from __future__ import annotations

from pathlib import Path

from resources.warehouse.publish.tables import KEYS
from resources.warehouse.reference import tables_markdown

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_the_tables_is_current() -> None:
    assert (ROOT / "docs/tables.md").read_text() == tables_markdown(), "run `make docs`"


def test_every_published_table_has_its_section_and_every_column_its_meaning() -> None:
    page = tables_markdown()
    for table in KEYS:
        assert f"\n### {table}\n" in page
    assert "|  |" not in page
