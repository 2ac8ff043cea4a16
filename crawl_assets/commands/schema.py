"""`nightcrawl schema`: what a site file may hold, as JSON schema for editors or Markdown for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["schema"]


def schema(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="The reference page instead.")] = False,
) -> None:
    """Print the JSON schema of a site file."""
    if markdown:
        from resources.site.reference import reference_markdown

        text = reference_markdown()
    else:
        from resources.site.schema import json_schema_text

        text = json_schema_text()
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
