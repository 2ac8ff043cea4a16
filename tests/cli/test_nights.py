"""Whole nights by the command, against the practice site in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crawl_assets.cli import app
from crawl_assets.commands.failures import report
from practice_site.process import RemoteSite, practice_site_process
from resources.installation import Installation

NIGHTCRAWL = Path(sys.executable).parent / "nightcrawl"
#: A night of some seconds on a quiet machine: only a hang reaches this.
PATIENCE_S = 120


class Shell:
    """An empty folder in which `nightcrawl` is run as a user would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("NIGHTCRAWL_", "DAGSTER_"))
        }
        (folder / "sites").mkdir(parents=True)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(NIGHTCRAWL), *arguments], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, *arguments: str) -> tuple[int, str]:
        with self.start(*arguments) as process:
            output, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, output

    def look(self, *arguments: str) -> tuple[int, str]:
        """Exit code and output of a command that only looks: in this process, since starting one takes far longer."""
        environment: dict[str, str | None] = {**dict.fromkeys(os.environ), **self.environment}
        with contextlib.chdir(self.folder):
            result = CliRunner().invoke(app, list(arguments), env=environment)
        if isinstance(result.exception, Exception):
            return report(result.exception), result.output
        return result.exit_code, result.output

    def json(self, *arguments: str) -> object:
        code, output = self.look(*arguments, "--json")
        assert code == 0, output
        return json.loads(output)

    @property
    def installation(self) -> Installation:
        return Installation.at(self.folder / "data", self.folder / "sites")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def site() -> Iterator[RemoteSite]:
    with practice_site_process(n_products=40) as running:
        yield running


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_two_nights_at_the_practice_site(shell: Shell) -> None:
    """The first command a user runs, twice."""
    code, first = shell.run(
        "crawl", "--practice", "--practice-products", "60", "--practice-port", free_port()
    )
    assert code == 0, first
    assert "night 1 at the practice site" in first and "balanced" in first and "NOT balanced" not in first
    assert re.search(r"\d\.\ds  (seeding|fetching|retrying|tables)", first), "plain progress lines"
    assert "book 60" in first and "published.duckdb" in first and "make ui" in first
    books = shell.json("sql", "select count(*) as n, min(price) > 0 as priced from book")
    assert books == [{"n": 60, "priced": True}]

    code, second = shell.run("crawl", "--practice")
    assert code == 0, second
    assert "night 2 at the practice site" in second
    statuses = next(line for line in second.splitlines() if line.startswith("statuses"))
    assert "304" in statuses, "the second night revalidates"
    log = shell.json("sql", "select run_id, count(*) as n from fetch_log group by 1")
    assert isinstance(log, list) and len(log) == 2
    changed = shell.json("sql", "select count(*) as n from pages where changed_at > first_seen_at")
    assert isinstance(changed, list) and 0 < changed[0]["n"] < 60, "only what changed counts as changed"

    (domain,) = shell.json("status")["domains"]  # type: ignore[index]
    assert domain["leased"] == 0 and domain["done"] > 60
    code, told = shell.run("publish", "nowhere.example")
    assert code == 1 and "nowhere.example: nothing of it is loaded" in told
    code, story = shell.run("why", f"http://{domain['domain']}/")
    assert code == 0 and "rows        pages: 1" in story and "linked from" in story and "status 304" in story


def test_init_then_crawl_a_site_by_its_url(shell: Shell, site: RemoteSite) -> None:
    code, output = shell.run("init", site.url, "--contact", "crawl@acme.example")
    assert code == 0 and "to fill in" not in output, output
    (path,) = (shell.folder / "sites").glob("*.yaml")
    text = path.read_text()
    assert "jsonld:" in text and "sitemap.xml" in text and "contact: crawl@acme.example" in text
    assert len(site.requests()) <= 8, "a first look is no crawl"
    assert shell.look("init", site.url)[0] == 2, "an existing file is kept"

    code, output = shell.run("crawl", site.url, "--max-pages", "25")
    assert code == 0, output
    (domain,) = shell.json("status")["domains"]  # type: ignore[index]
    assert domain["pending"] > 0 and 0 < domain["done"] <= 25 + 5


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_drains_and_the_same_command_goes_on(
    shell: Shell, number: signal.Signals, code: int
) -> None:
    arguments = ("crawl", "--site", "sites/shop.yaml")
    with practice_site_process(n_products=120, latency=0.05) as site:
        from practice_site.site_file import site_yaml

        (shell.folder / "sites" / "shop.yaml").write_text(site_yaml(site.domain, name="shop"))
        process = shell.start(*arguments)
        deadline = time.monotonic() + PATIENCE_S
        while (
            len(site.requests(prefix="/book/")) < 15
            and time.monotonic() < deadline
            and process.poll() is None
        ):
            time.sleep(0.1)
        process.send_signal(number)
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == code, output
        assert "everything fetched is kept" in output
        fetched = {r["path"] for r in site.requests(prefix="/book/", status=200)}
        (domain,) = shell.json("status")["domains"]  # type: ignore[index]
        assert domain["leased"] == 0 and domain["pending"] > 0
        site.reset()
        assert shell.run(*arguments)[0] == 0
        again = [r for r in site.requests(prefix="/book/", status=200) if r["path"] in fetched]
        assert again == [], "nothing that was fetched is fetched again"


@pytest.mark.slow
def test_pages_from_an_archive_become_tables_without_a_request(
    shell: Shell, site: RemoteSite, tmp_path: Path
) -> None:
    from practice_site.site_file import site_yaml

    (shell.folder / "sites" / "shop.yaml").write_text(site_yaml(site.domain, name="shop"))
    assert shell.run("crawl")[0] == 0
    assert shell.run("export-warc", "pages.warc.gz")[0] == 0
    items = shell.json("sql", "select isbn, title, price from book order by 1")

    other = Shell(tmp_path / "other")
    (other.folder / "sites" / "shop.yaml").write_text(site_yaml(site.domain, name="shop"))
    site.reset()
    code, output = other.run("import-warc", str(shell.folder / "pages.warc.gz"))
    assert code == 0, output
    assert other.json("sql", "select isbn, title, price from book order by 1") == items
    assert site.requests() == []
