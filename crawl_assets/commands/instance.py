"""The Dagster instance of an installation: one place that decides DAGSTER_HOME, for `crawl` and `ui` alike.

Numbered cases: 1. DAGSTER_HOME is set: that; 2. the working directory has a dagster.yaml and the data folder is
its `./data`: the working directory; 3. else a folder below the data folder, with the project's dagster.yaml and
its paths made absolute. In all of them the instance's own data is below the data folder.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resources.installation import Installation

__all__ = ["PROJECT", "dagster_home"]

#: Where the project's dagster.yaml and workspace.yaml are.
PROJECT = Path(__file__).resolve().parents[2]
#: As it is written in dagster.yaml.
_RELATIVE = "data/dagster"
_WORKSPACE = (
    "load_from:\n  - python_module: {module_name: crawl_assets.definitions, location_name: nightcrawl}\n"
)


def dagster_home(installation: Installation) -> Path:
    """The folder that is DAGSTER_HOME from now on; also set in the environment."""
    home = _home(installation)
    home.mkdir(parents=True, exist_ok=True)
    os.environ["DAGSTER_HOME"] = str(home)
    return home


def _home(installation: Installation) -> Path:
    if given := os.environ.get("DAGSTER_HOME"):
        return Path(given).absolute()
    here = Path.cwd()
    if (here / "dagster.yaml").exists() and installation.data == here / "data":
        return here
    home = installation.data / "dagster" / "home"
    home.mkdir(parents=True, exist_ok=True)
    text = ""
    if (PROJECT / "dagster.yaml").exists():
        text = (PROJECT / "dagster.yaml").read_text(encoding="utf-8")
    settings = text.replace(_RELATIVE, str(installation.data / "dagster"))
    (home / "dagster.yaml").write_text(settings, encoding="utf-8")
    (home / "workspace.yaml").write_text(_WORKSPACE, encoding="utf-8")
    return home
