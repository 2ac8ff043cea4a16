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
    say(f"Dagster UI at http://{host}:{port} (instance {home}); Ctrl-C ends it")
    sys.stdout.flush()
    from crawl_assets.automation.start import serve

    serve(home, installation, host, port)  # becomes Dagster: signals and exit code are its own
