"""What the documents show and lead to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/operating.md"])
def test_every_picture_exists(page: str) -> None:
    pictures = re.findall(r"[(\"]([\w/.-]+\.png)[)\"]", (ROOT / page).read_text())
    assert pictures
    for picture in pictures:
        assert ((ROOT / page).parent / picture).exists(), f"{page} shows {picture}"


def test_every_check_is_explained_to_the_operator() -> None:
    from crawl_assets.definitions import defs

    text = (ROOT / "docs/operating.md").read_text()
    for key in defs().resolve_asset_graph().asset_check_keys:
        assert f"`{key.name}`" in text, f"docs/operating.md does not name the check {key.name}"
