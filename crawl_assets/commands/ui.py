"""`nightcrawl ui`: the same data in the Dagster UI, with the daemon that runs schedules and sensors."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from .terminal import say

__all__ = ["ui"]


def ui(
    port: Annotated[int, typer.Option(min=1, max=65535)] = 3000,
    host: Annotated[str, typer.Option(help="Loopback by default: Dagster's UI has no login.")] = "127.0.0.1",
) -> None:
    """Prepare the Dagster instance and serve the UI until Ctrl-C."""
    from resources.installation import Installation

    from .instance import dagster_home

    installation = Installation.from_environment().prepare()
    installation.catalog()  # bad site files are told here rather than in a browser
    home = dagster_home(installation)
    os.environ["NIGHTCRAWL_DATA"] = str(installation.data)
    os.environ["NIGHTCRAWL_SITES"] = str(installation.sites)
    _prepare()
    say(f"Dagster UI at http://{host}:{port} (instance {home}); Ctrl-C ends it")
    sys.stdout.flush()
    command = [sys.executable, "-W", "ignore", "-m", "dagster", "dev", "-m", "crawl_assets.definitions", "-h", host, "-p", str(port)]  # fmt: skip
    # In place of this process: signals and exit code are Dagster's.
    os.execv(sys.executable, command)


def _prepare() -> None:
    """Create the instance's storage before several processes of `dagster dev` do so at once, and its partitions."""
    import dagster as dg

    from crawl_assets.partitions import sync_partitions
    from resources.installation import Installation

    with dg.DagsterInstance.get() as instance:
        sync_partitions(instance, Installation.from_environment())
