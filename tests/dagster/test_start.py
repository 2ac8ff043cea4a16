"""The environment of Dagster's processes."""

from __future__ import annotations

from pathlib import Path

from crawl_assets.automation.start import environment


def test_memory_that_threads_gave_back_is_not_kept_unless_somebody_wants_it(tmp_path: Path) -> None:
    assert environment(tmp_path, {})["MALLOC_ARENA_MAX"] == "2"
    assert environment(tmp_path, {"MALLOC_ARENA_MAX": "8"})["MALLOC_ARENA_MAX"] == "8"


def test_the_home_is_set_and_the_environment_goes_on(tmp_path: Path) -> None:
    found = environment(tmp_path, {"NIGHTCRAWL_DATA": "/data", "PATH": "/bin"})
    assert found["DAGSTER_HOME"] == str(tmp_path)
    assert found["NIGHTCRAWL_DATA"] == "/data"
    assert found["PATH"].endswith(":/bin")
