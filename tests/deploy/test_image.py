"""The image: the Dockerfile's own build steps, run in a clean virtual environment, since no Docker engine is needed
for what they do. Layers, base image and users are not run here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.files import COMPOSE, DEPLOY

ROOT = DEPLOY.parent
DOCKERFILE = (COMPOSE / "Dockerfile").read_text().replace("\\\n", " ")


def steps(word: str) -> list[list[str]]:
    return [line.split()[1:] for line in DOCKERFILE.splitlines() if line.startswith(word + " ")]


def test_everything_that_is_copied_is_in_the_repository() -> None:
    for words in steps("COPY"):
        if words[0].startswith("--from="):
            continue
        for source in words[:-1]:
            assert (ROOT / source).exists(), f"COPY {source}"


def test_the_image_has_the_packages_of_the_project_and_no_more() -> None:
    import tomllib

    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"][
        "include"
    ]
    copied = {source for words in steps("COPY") for source in words[:-1] if (ROOT / source).is_dir()}
    assert copied == {name.removesuffix("*") for name in found}


@pytest.mark.slow
def test_the_build_steps_make_a_working_command(tmp_path: Path) -> None:
    source, target = tmp_path / "src", tmp_path / "nightcrawl"
    source.mkdir()
    for words in steps("COPY"):
        if words[0].startswith("--from=") or words[-1].startswith("/etc"):
            continue
        for name in words[:-1]:
            place = source / Path(words[-1]) if len(words) == 2 else source / Path(name).name
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, place)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))
    }
    build = DOCKERFILE.split("\nFROM ")[1]
    commands = [line.removeprefix("RUN ") for line in build.splitlines() if line.startswith("RUN ")]
    assert len(commands) == 3
    for command in commands:
        here = re.sub(r"^python ", f"{sys.executable} ", command).replace("/opt/nightcrawl", str(target))
        done = subprocess.run(
            ["sh", "-ec", here], cwd=source, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])

    def run(*words: str) -> str:
        own = environment | {"PATH": f"{target}/bin:/usr/bin:/bin", "NIGHTCRAWL_DATA": str(tmp_path / "data")}
        done = subprocess.run(
            [str(target / "bin" / words[0]), *words[1:]],
            cwd=tmp_path,
            env=own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    assert "worker" in run("nightcrawl", "--help")
    assert "nightcrawl_up 1.0" in run("nightcrawl", "metrics", "--once")
    assert "dagster" in run("dagster", "--version")
    run("dagster-webserver", "--version")
    run(
        "python",
        "-c",
        "import resources.launcher.app, crawl_assets.definitions, obstore, psycopg, dagster_postgres",
    )
    # Scripts and SQL come with the packages.
    run("python", "-c", "from resources.frontier.redis.store import SCRIPTS; assert len(SCRIPTS) > 10")
