"""What the documents show and lead to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crawl_assets.definitions import defs  # first: it silences Dagster's warnings about beta features  # noqa: F401

from crawl_assets.checks import forecast  # isort: skip
from crawl_assets.stages.course import CHECKS  # isort: skip

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/operating.md"])
def test_every_picture_exists(page: str) -> None:
    pictures = re.findall(r"[(\"]([\w/.-]+\.png)[)\"]", (ROOT / page).read_text())
    assert pictures
    for picture in pictures:
        assert ((ROOT / page).parent / picture).exists(), f"{page} shows {picture}"


def test_every_check_is_explained_to_the_operator() -> None:
    text = (ROOT / "docs/operating.md").read_text()
    for spec in (*CHECKS, forecast.SPEC):
        assert f"`{spec.name}`" in text, f"docs/operating.md does not name the check {spec.name}"
