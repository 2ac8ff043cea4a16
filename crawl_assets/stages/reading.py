"""How people read what a stage made, as metadata: a command to copy, and where the columns are explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg

from resources.warehouse.statements import identifier

__all__ = ["reading"]

#: Beside the code in a checkout; an installed package has none, and then the command alone is shown.
EXPLAINED = Path(__file__).resolve().parents[2] / "docs" / "tables.md"


def reading(table: str, domain: str) -> dict[str, dg.MetadataValue[Any]]:
    """Metadata for the published rows of `table`."""
    query = f"SELECT * FROM {identifier(table)} WHERE domain = '{domain}' LIMIT 10".replace('"', '\\"')
    found: dict[str, dg.MetadataValue[Any]] = {
        "read it with": dg.MetadataValue.md(
            f'```sh\nnightcrawl sql "{query}"\n```\n`nightcrawl why URL` has the whole story of one page.'
        )
    }
    if EXPLAINED.is_file():
        found["columns explained"] = dg.MetadataValue.path(str(EXPLAINED))
    return found
