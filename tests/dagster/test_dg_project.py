"""The folder is a project of `dg`, Dagster's command line: it checks, lists and launches what the UI does."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from crawl_assets.automation.start import prepare
from practice_site import practice_site_process, site_yaml
from resources.installation import Installation
from tests.dagster.conftest import NIGHT

ROOT = Path(__file__).resolve().parents[2]
DG = Path(sys.executable).parent / "dg"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DG.exists(), reason="no dg here: pip install dagster-dg-cli"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project's own settings over the code of this checkout, with data and sites of the test's own."""
    for name in ("pyproject.toml", "dagster.yaml", "workspace.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("crawl_assets", "resources"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "sites").mkdir()
    return tmp_path


def run(project: Path, *words: str) -> str:
    """What `dg` prints. AssertionError with it when the command fails."""
    environment = os.environ | {"DAGSTER_HOME": str(project), "PYTHONPATH": str(project)}
    done = subprocess.run(
        [DG, *words], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (words, (done.stdout + done.stderr)[-4_000:])
    return done.stdout + done.stderr


def test_definitions_are_valid_and_load_without_a_warning(project: Path) -> None:
    told = run(project, "check", "defs")
    assert "All definitions loaded successfully" in told
    assert "Warning" not in told
    assert "valid" in run(project, "check", "toml")


def test_everything_is_listed(project: Path) -> None:
    told = run(project, "list", "defs", "--json")
    found = json.loads(told[told.index("{") :])
    assert {a["asset_key"] for a in found["assets"]} >= {
        *NIGHT,
        "night_plan",
        "night_report",
        "site_files",
        "the_web",
    }
    assert {s["name"] for s in found["schedules"]} >= {"nightly", "plans", "canary_rounds"}
    assert {j["name"] for j in found["jobs"]} >= {"night", "reparse", "publish", "retry_everywhere"}


def test_a_domain_and_a_job_are_launched(project: Path) -> None:
    installation = Installation.at(project / "data", project / "sites")
    with practice_site_process(n_products=5) as shop:
        text = site_yaml(shop.domain, name="shop", changes={"pace": {"rate": "unlimited"}})
        (installation.sites / "shop.yaml").write_text(text)
        prepare(project, installation)
        run(project, "launch", "--job", "night", "--partition", shop.domain)
        shop.reset()
        settings = json.dumps({"ops": {"stages": {"config": {"parse_all": True}}}})
        run(
            project,
            "launch",
            "--assets",
            "pages,published",
            "--partition",
            shop.domain,
            "--config-json",
            settings,
        )
        assert shop.requests() == []
        run(project, "launch", "--assets", "night_report")
        # Paths in dagster.yaml are relative to the folder Dagster runs in.
        with contextlib.chdir(project), dg.DagsterInstance.from_config(str(project)) as instance:
            for asset in NIGHT:
                assert instance.get_materialized_partitions(dg.AssetKey(asset)) == {shop.domain}, asset
            report = instance.get_latest_materialization_event(dg.AssetKey("night_report"))
    assert report is not None and report.asset_materialization is not None
    assert "domain" in str(report.asset_materialization.metadata["in one sentence"].value)
