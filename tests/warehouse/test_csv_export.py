"""CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.warehouse.csv_export import export_csv, safe_cell, write_csv


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\u00a0=1", "＝1", "=cmd|' /C calc'!A0", "|x"],
)
def test_texts_that_begin_like_a_formula_are_marked_as_text(text: str) -> None:
    assert safe_cell(text) == "'" + text


def test_numbers_and_plain_texts_stay() -> None:
    for value in (-5, Decimal("-1.5"), None, True, "a=b", "12-3", ""):
        assert safe_cell(value) is value


@given(
    st.lists(
        st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2),
        max_size=5,
    )
)
def test_every_cell_reads_back_and_none_begins_a_formula(rows: list[list[str]]) -> None:
    file = io.StringIO(newline="")
    assert write_csv(["a", "b"], rows, file) == len(rows)
    file.seek(0)
    read = list(csv.reader(file))[1:]
    assert len(read) == len(rows)
    for cells, row in zip(read, rows, strict=True):
        assert [cell.removeprefix("'") for cell in cells] == [
            text.replace("\0", "\ufffd").removeprefix("'") for text in row
        ]
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)


def test_a_query_is_streamed_with_its_head() -> None:
    file = io.StringIO(newline="")
    assert export_csv(duckdb.connect(), "SELECT '=x' AS a, -1 AS b", file) == 1
    assert file.getvalue() == "a,b\r\n'=x,-1\r\n"
