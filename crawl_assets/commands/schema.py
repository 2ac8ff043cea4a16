"""`nightcrawl schema`: the JSON schema of a site file, for editors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["schema"]


def schema(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead.")] = None,
) -> None:
    """Print the JSON schema of a site file."""
    from resources.site.schema import json_schema_text

    if output is None:
        typer.echo(json_schema_text(), nl=False)
    else:
        output.write_text(json_schema_text(), encoding="utf-8")
