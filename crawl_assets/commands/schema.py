"""`nightcrawl schema`: what a site file may hold and what the tables hold, for editors and for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["schema"]


def schema(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="The reference page instead.")] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="The reference page of the published tables instead.")
    ] = False,
) -> None:
    """Print the JSON schema of a site file."""
    if tables:
        from resources.warehouse.reference import tables_markdown

        text = tables_markdown()
    elif markdown:
        from resources.site.reference import reference_markdown

        text = reference_markdown()
    else:
        from resources.site.schema import json_schema_text

        text = json_schema_text()
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
