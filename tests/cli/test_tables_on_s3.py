"""A night whose pages and tables are on S3: another machine reads what it published."""

from __future__ import annotations

from pathlib import Path

import pytest

from practice_site.process import practice_site_process
from tests.cli.test_nights import Shell
from tests.fleet.servers import s3_place

pytestmark = pytest.mark.slow


def test_a_night_here_is_read_there(tmp_path: Path) -> None:
    here, there = Shell(tmp_path / "here"), Shell(tmp_path / "there")
    place = s3_place(tmp_path)
    prefix, _, query = place.partition("?")
    for shell in (here, there):
        shell.environment |= {
            "NIGHTCRAWL_TABLES": f"{prefix}/tables?{query}", "NIGHTCRAWL_PAGES": f"{prefix}/pages?{query}",
            "AWS_ACCESS_KEY_ID": "nightcrawl", "AWS_SECRET_ACCESS_KEY": "nightcrawl-secret",
        }  # fmt: skip
    with practice_site_process(n_products=20) as site:
        from practice_site.site_file import site_yaml

        (here.folder / "sites" / "practice.yaml").write_text(site_yaml(site.domain))
        code, said = here.run("crawl")
        assert code == 0, said
        assert "book 20" in said, said
    assert there.json("sql", "SELECT count(*) AS n FROM book") == [{"n": 20}]
    assert not list((here.folder / "data" / "tables").glob("staging/*/*"))
