"""The peers' environments: one each below `benchmarks/.venvs`, filled from PyPI when first needed."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

__all__ = ["install", "python_of"]

_FOLDER = Path(__file__).parent.parent / ".venvs"


def python_of(environment: str) -> Path:
    return _FOLDER / environment / "bin" / "python"


def install(environment: str, packages: tuple[str, ...]) -> None:
    """Raises CalledProcessError when PyPI cannot be reached."""
    python = python_of(environment)
    if not python.exists():
        venv.create(python.parent.parent, with_pip=True)
    names = [package.partition("[")[0] for package in packages]
    listed = subprocess.run(
        [python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True
    ).stdout
    have = {line.partition("==")[0].lower() for line in listed.splitlines()}
    if not have.issuperset(names):
        print(f"installing {', '.join(packages)} into {_FOLDER / environment}", flush=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages], check=True
        )
