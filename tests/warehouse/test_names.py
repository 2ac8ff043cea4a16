"""Names from outside cannot inject SQL or leave the data folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.warehouse.folders import TableFolders, file_name, name_of_file
from resources.warehouse.load import load_domains
from resources.warehouse.statements import identifier
from tests.warehouse.shop import Shop, lamp_page


@given(st.text(max_size=300))
def test_any_domain_has_a_folder_of_its_own_below_staging(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        return
    staging = TableFolders(Path("/data/tables"))
    assert staging.staging_of(name).parent == staging.staging
    assert "/" not in file_name(name) and file_name(name) not in ("", ".", "..")
    assert len(file_name(name)) < 220
    if len(file_name(name)) <= 180 and name:
        assert name_of_file(file_name(name)) == name


@given(st.text(max_size=80), st.text(max_size=80))
def test_distinct_domains_never_share_a_folder(a: str, b: str) -> None:
    try:
        assert (file_name(a) == file_name(b)) == (a == b)
    except UnicodeEncodeError:
        return


@pytest.mark.parametrize("name", ['a"; DROP TABLE pages; --', "A", "a b", "", "ä", "a.b", "1a"])
def test_no_identifier_holds_more_than_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="no table or column name"):
        identifier(name)


def test_a_domain_with_sql_in_its_name_is_only_a_value(shop: Shop) -> None:
    shop.put("/lamp/1", lamp_page("L1"))
    shop.night("r1")
    evil = "x'; DROP TABLE pages; --/../../escape"
    report = load_domains(shop.installation, [evil], run_id="'; DROP TABLE links; --")
    assert report.failed == {}
    assert shop.rows("SELECT count(*) FROM pages") == [(1,)]
    assert shop.rows("SELECT count(*) FROM domains WHERE domain LIKE 'x%'") == [(1,)]
    assert not (shop.installation.data.parent / "escape").exists()
