"""`nightcrawl prepare`: what has to happen once before Dagster's processes start, where `ui` does not start them."""

from __future__ import annotations

from typing import Annotated

import typer

from .terminal import count, say

__all__ = ["prepare"]


def prepare(
    crawl_runs: Annotated[
        int | None, typer.Option(min=1, help="Runs that may crawl at once, over all machines.")
    ] = None,
) -> None:
    """Make the Dagster instance ready: its tables, pool limits, lost runs, a partition for each domain."""
    from crawl_assets.automation.start import CRAWL_RUNS
    from crawl_assets.automation.start import prepare as make_ready
    from resources.installation import Installation

    from .instance import dagster_home

    installation = Installation.from_environment()
    home = dagster_home(installation)
    done = make_ready(home, installation, crawl_runs or CRAWL_RUNS)
    added, cleared = len(done.partitions.added), len(done.cleared)
    say(f"{home}: ready; {count(added)} new domains, {count(cleared)} lost runs cleared")
