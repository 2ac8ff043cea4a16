"""The installation as a Dagster resource: the same settings as everywhere, shown and changeable in the launchpad."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import dagster as dg
from pydantic import Field

from resources.installation import Installation

__all__ = ["InstallationResource"]


class InstallationResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where this installation's data and site files are. Nothing is opened here: stages open what they use.

    Read when a step asks, not when the code is loaded: a changed environment or site file needs no restart.
    """

    data: str = Field(default="", description="Data folder; empty: NIGHTCRAWL_DATA, else ./data.")
    sites: str = Field(default="", description="Folder of site files; empty: NIGHTCRAWL_SITES, else ./sites.")

    def installation(self) -> Installation:
        """The settings, with the folders given here in place of those of the environment."""
        found = Installation.from_environment()
        if self.data:
            found = Installation.at(Path(self.data).absolute(), found.sites)
        if self.sites:
            found = replace(found, sites=Path(self.sites).absolute())
        return found
