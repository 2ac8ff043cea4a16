"""`nightcrawl version`."""

from __future__ import annotations

from typing import Annotated

import typer

from .terminal import say, say_json

__all__ = ["version"]


def version(as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """Say which version this is, of Nightcrawl and of what it stands on."""
    import platform
    from importlib.metadata import version as installed

    parts = {name: installed(name) for name in ("nightcrawl", "dagster", "duckdb", "httpx", "selectolax")}
    parts["python"] = platform.python_version()
    if as_json:
        say_json(parts)
    else:
        say(", ".join(f"{name} {number}" for name, number in parts.items()))
