"""An empty installation for each test, and the command as a user meets it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from crawl_assets.cli import app
from crawl_assets.commands.failures import report
from resources.installation import Installation

Command = Callable[..., Result]

SHOP = "domains: [shop.example]\nscope: {exclude: [/private/*]}\nurls: {drop_parameters: [sid]}\n"


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """Data and sites below the test's folder, one site file in it; no variable of the developer's shines in."""
    for name in (
        "NIGHTCRAWL_FRONTIER",
        "NIGHTCRAWL_PAGES",
        "NIGHTCRAWL_TABLES",
        "NIGHTCRAWL_LEDGER",
        "NIGHTCRAWL_CONTACT",
        "DAGSTER_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NIGHTCRAWL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NIGHTCRAWL_SITES", str(tmp_path / "sites"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "shop.yaml").write_text(SHOP)
    return Installation.from_environment().prepare()


@pytest.fixture
def nightcrawl(installation: Installation) -> Command:
    """`nightcrawl("status", "--json")`; exit code and output as `main` gives them."""

    def run(*arguments: str, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            assert isinstance(result.exception, Exception)
            result.exit_code = report(result.exception)
        return result

    return run
