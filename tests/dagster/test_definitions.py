"""The code location: loads without a warning, says what every asset and check is for."""

from __future__ import annotations

import contextvars
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import dagster as dg

from crawl_assets.definitions import defs

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]

STAGES = [
    "seed_frontier",
    "fetched_pages",
    "retried_failures",
    "raw_html",
    "pages",
    "links",
    "items",
    "published",
]


def _fresh(load: Callable[[], T]) -> T:
    """Load in a context of its own: Dagster remembers the last instance of the context, which may be gone."""
    return contextvars.Context().run(load)


def test_it_loads_without_a_warning() -> None:
    code = "import dagster as dg\nfrom crawl_assets.definitions import defs\ndg.Definitions.validate_loadable(defs())"
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr[-2000:]
    assert "Warning" not in found.stderr


def test_what_only_runs_need_is_not_loaded_with_the_definitions() -> None:
    code = (
        "import sys\nfrom crawl_assets.definitions import defs\ndefs()\n"
        "heavy = ('duckdb', 'numpy', 'pyarrow', 'pyreqwest', 'resources.crawler.crawl')\n"
        "print(*(name for name in heavy if name in sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == []


def test_every_stage_is_an_asset_of_its_own_that_says_what_to_do_when_red() -> None:
    graph = _fresh(lambda: defs().resolve_asset_graph())
    for key in STAGES:
        node = graph.get(dg.AssetKey(key))
        assert node.partitions_def is not None
        assert node.description and "**When red:**" in node.description
        assert node.group_name and node.owners
        assert 0 < len(node.kinds) <= 3


def test_data_flows_from_the_web_to_what_readers_open() -> None:
    graph = _fresh(lambda: defs().resolve_asset_graph())
    upstream = {key: {p.to_user_string() for p in graph.get(dg.AssetKey(key)).parent_keys} for key in STAGES}
    assert upstream["seed_frontier"] == {"the_web", "site_files"}
    assert upstream["pages"] == {"raw_html", "site_files"}
    assert upstream["published"] == {"pages", "links", "items"}


def test_groups_sort_in_the_order_data_flows() -> None:
    """The UI's lists sort groups by name."""
    graph = _fresh(lambda: defs().resolve_asset_graph())
    for key in graph.get_all_asset_keys():
        group = graph.get(key).group_name
        assert group[0].isdigit()
        assert all(graph.get(parent).group_name <= group for parent in graph.get(key).parent_keys)


def test_the_jobs_an_operator_starts_exist() -> None:
    names = {job.name for job in _fresh(lambda: defs().resolve_all_job_defs())}
    assert {"night", "fetch", "retry", "reparse", "publish", "canaries"} <= names
