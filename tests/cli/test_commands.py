"""The commands that need no network: what they say, what they change, how they end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crawl_assets.cli import app
from crawl_assets.commands.exit_codes import ExitCode
from crawl_assets.commands.failures import CommandFailed, report, without_secrets
from resources.frontier.base import Discovery
from resources.installation import Installation
from resources.warehouse.load.load import load_domains
from resources.web.urls import key

from .conftest import Command
from .stored_pages import AT, DOMAIN, Stored, store

ROOT = Path(__file__).resolve().parents[2]
PAGE = Stored("/", b"<html><title>Shop</title><a href=/a>a</a>")
LOOK = Stored("/look", b"<html><title>Look</title>")


# -- status, why ---------------------------------------------------------------------------------------
def test_status_of_nothing(nightcrawl: Command) -> None:
    result = nightcrawl("status")
    assert result.exit_code == 0 and "nothing has been crawled yet" in result.output
    assert json.loads(nightcrawl("status", "--json").output)["domains"] == []


def test_status_balances_and_names_causes(nightcrawl: Command, installation: Installation) -> None:
    store(installation, PAGE, failed={"/x": "dns", "/y": "http_404"})
    (found,) = json.loads(nightcrawl("status", "--json").output)["domains"]
    assert found["discovered"] == 3 == found["done"] + found["failed"]
    assert found["failures"]["dns"]["all"] == 1
    assert "http_404 1" in nightcrawl("status").output


def test_why_tells_the_story(nightcrawl: Command, installation: Installation) -> None:
    store(installation, PAGE, LOOK, failed={"/x": "dns"})
    told = nightcrawl("why", "HTTP://shop.example:80/look?sid=9#top")
    assert told.exit_code == 0
    for words in ("normalized  from HTTP://shop.example:80/look?sid=9#top", "state       done", "on http://shop.example/",
                  'ETag: "v1"', "attempt 1, ok, status 200"):  # fmt: skip
        assert words in told.output
    story = json.loads(nightcrawl("why", "http://shop.example/x", "--json").output)
    assert (story["frontier"]["state"], story["frontier"]["cause"], story["cache"]) == ("failed", "dns", None)


def test_why_of_what_was_taken_for_a_trap_names_the_switch(
    nightcrawl: Command, installation: Installation
) -> None:
    url = "http://shop.example/lot/7"
    reason = "trap: endless http://shop.example/lot/#"
    frontier = installation.open_frontier()
    frontier.enqueue([Discovery(key(url), url, DOMAIN, excluded=reason)], AT)
    frontier.close()
    told = nightcrawl("why", url).output
    assert reason in told
    assert 'hint        if these are pages of their own: traps.trust: ["/lot/*"] in the site file' in told
    load_domains(installation, [DOMAIN])
    with installation.open_tables().warehouse(10.0) as warehouse:
        rows = warehouse.connection.execute("SELECT reason, detail FROM excluded_urls").fetchall()
    assert rows == [
        (
            "trap",
            "endless http://shop.example/lot/#; if these are pages of their own: traps.trust: "
            '["/lot/*"] in the site file; it is asked again every night',
        )
    ]


def test_why_of_an_unknown_url_says_so_and_what_would_become_of_it(nightcrawl: Command) -> None:
    result = nightcrawl("why", "http://shop.example/private/1")
    assert result.exit_code == ExitCode.BAD_NEWS
    assert "never met" in result.output and "scope.exclude: /private/*" in result.output
    assert nightcrawl("why", "nonsense").exit_code == ExitCode.USAGE
    assert "no site file" in nightcrawl("why", "http://other.example/").output


# -- seed, reset, retry ----------------------------------------------------------------------------------
def test_seed_takes_what_is_good_and_tells_the_rest(nightcrawl: Command, installation: Installation) -> None:
    text = "# by hand\nhttp://shop.example/{1..3}\nhttp://shop.example/1?sid=7\nhttp://u:pw@evil.example/\nx y\nhttp://shop.example/private/1\n"
    result = nightcrawl("seed", DOMAIN, "--json", stdin=text)
    assert result.exit_code == ExitCode.BAD_NEWS
    found = json.loads(result.output)
    assert found["known"] == 1 and found["excluded"] == 1 and len(found["refused"]) == 2
    assert "standard input:4" in found["refused"][0] and "pw" not in result.output
    frontier = installation.open_frontier()
    assert frontier.counts(DOMAIN).pending == 3 and frontier.counts(DOMAIN).excluded == 1
    frontier.close()


def test_seed_from_a_file(nightcrawl: Command, tmp_path: Path) -> None:
    (tmp_path / "urls").write_text("http://shop.example/a\n")
    assert nightcrawl("seed", DOMAIN, str(tmp_path / "urls")).exit_code == 0
    assert nightcrawl("seed", "other.example", str(tmp_path / "urls")).exit_code == ExitCode.USAGE
    assert nightcrawl("seed", DOMAIN, "nowhere.txt").exit_code == ExitCode.STORAGE


def test_reset_asks_first(nightcrawl: Command, installation: Installation) -> None:
    store(installation, PAGE)
    assert "nothing was changed" in nightcrawl("reset", DOMAIN, stdin="n\n").output
    assert nightcrawl("status", "--json").output.count('"domain"') == 1
    assert nightcrawl("reset", DOMAIN, "--yes").exit_code == 0
    pages = installation.open_pages()
    assert pages.head(key(PAGE.url)) is None
    pages.close()
    assert nightcrawl("reset", DOMAIN, "--yes").exit_code == ExitCode.USAGE


def test_reset_leaves_a_domain_alone_that_is_being_crawled(
    nightcrawl: Command, installation: Installation
) -> None:
    store(installation, PAGE)
    frontier = installation.open_frontier()
    assert frontier.lease_domain(DOMAIN, "somebody", 60.0, time.time())
    frontier.close()
    assert nightcrawl("reset", DOMAIN, "--yes").exit_code == ExitCode.BAD_NEWS


def test_maintain_makes_stored_pages_smaller_and_leaves_running_crawls_alone(
    nightcrawl: Command, installation: Installation
) -> None:
    store(installation, *(Stored(f"/{n}", f"<p>{n}</p>".encode() + PAGE.body * 9) for n in range(30)))
    assert nightcrawl("maintain", "unknown.example").exit_code == ExitCode.USAGE
    assert "are now" in nightcrawl("maintain", "--dense").output
    assert nightcrawl("maintain", DOMAIN, "--minutes", "0").exit_code == ExitCode.BAD_NEWS
    frontier = installation.open_frontier()
    assert frontier.lease_domain(DOMAIN, "somebody", 60.0, time.time())
    frontier.close()
    busy = nightcrawl("maintain")
    assert busy.exit_code == ExitCode.BAD_NEWS and "somebody crawls this domain" in busy.output


def test_retry_without_failures_is_no_crawl(nightcrawl: Command, installation: Installation) -> None:
    store(installation, PAGE, failed={"/x": "dns"})
    result = nightcrawl("retry", "--cause", "tls")
    assert result.exit_code == 0
    assert (
        "no failure has the cause 'tls'; there are dns" in result.output
        and "no failure of tls" in result.output
    )
    assert nightcrawl("retry", "--domain", "other.example").exit_code == ExitCode.USAGE


# -- top, sql ----------------------------------------------------------------------------------------------
def test_top_is_plain_when_piped(nightcrawl: Command, installation: Installation) -> None:
    now = time.time()
    store(installation, Stored("/", b"x", now - 1), Stored("/b", b"y", now - 1000))
    line = nightcrawl("top").output.splitlines()[0]
    assert line.startswith("seen 2  queue 0") and "requests 1," in line
    found = json.loads(nightcrawl("top", "--json", "--window", "5000").output)
    assert (found["seen"], found["requests"], found["domains"][DOMAIN]["done"]) == (2, 2, 2)


def test_sql_before_anything_is_published(nightcrawl: Command) -> None:
    assert nightcrawl("sql", "select 1").exit_code == ExitCode.USAGE


def test_publish_before_anything_is_loaded(nightcrawl: Command) -> None:
    assert nightcrawl("publish").exit_code == ExitCode.STORAGE


# -- site files ----------------------------------------------------------------------------------------------
def test_check(nightcrawl: Command, tmp_path: Path) -> None:
    assert "1 site file without a problem: shop" in nightcrawl("check").output
    (tmp_path / "bad.yaml").write_text("domains: [a.example]\npac: {}\n")
    result = nightcrawl("check", str(tmp_path / "bad.yaml"), "--json")
    assert result.exit_code == ExitCode.USAGE
    (problem,) = json.loads(result.output)["problems"]
    assert (problem["line"], problem["field"]) == (2, "pac")


def test_bad_site_files_stop_every_command_that_needs_them(
    nightcrawl: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sites" / "bad.yaml").write_text("domains: [b.example]\npac: {}\n")
    assert nightcrawl("crawl").exit_code == ExitCode.USAGE
    assert "bad.yaml:2: pac: unknown key; did you mean 'pace'?" in capsys.readouterr().err


def test_crawl_wants_one_thing(nightcrawl: Command, tmp_path: Path) -> None:
    assert nightcrawl("crawl", "http://a.example/", "--practice").exit_code == ExitCode.USAGE
    assert nightcrawl("crawl", "--site", "none.yaml").exit_code == ExitCode.USAGE
    assert nightcrawl("crawl", "--domain", "other.example").exit_code == ExitCode.USAGE
    assert nightcrawl("crawl", "mailto:x").exit_code == ExitCode.USAGE
    assert nightcrawl("crawl", "--max-pages", "0").exit_code == ExitCode.USAGE
    assert nightcrawl("crawl", "https://public-host.com/").exit_code == ExitCode.USAGE, "no contact"
    (tmp_path / "sites" / "shop.yaml").unlink()
    assert nightcrawl("crawl").exit_code == ExitCode.USAGE


def test_schema_and_version(nightcrawl: Command) -> None:
    assert json.loads(nightcrawl("schema").output)["title"] == "Nightcrawl site file"
    assert "dagster" in json.loads(nightcrawl("version", "--json").output)


# -- errors ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET https://u:p@a.example/?token=abc&x=1", "GET https://a.example/?token=***&x=1"),
        ("proxy socks5://user:pass@10.0.0.1:1080 failed", "proxy socks5://10.0.0.1:1080 failed"),
        ("Authorization: Bearer abc", "Authorization: ***"),
        ("nothing to hide @ all: https://a.example/@x", "nothing to hide @ all: https://a.example/@x"),
    ],
)
def test_secrets_are_taken_out_of_words(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


def test_a_defect_is_told_in_one_line_and_kept_in_a_file(
    installation: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise KeyError("https://u:secret@a.example/")
    except KeyError as error:
        assert report(error) == ExitCode.INTERNAL
    told = capsys.readouterr().err
    assert "Traceback" not in told and "secret" not in told
    (kept,) = (installation.data / "logs").glob("error-*.txt")
    assert "Traceback" in kept.read_text() and "secret" not in kept.read_text()


def test_errors_by_kind() -> None:
    from resources.frontier.base import FrontierFull
    from resources.warehouse.connection import WarehouseBusy

    assert report(CommandFailed("x")) == ExitCode.USAGE
    assert (
        report(FrontierFull("x"))
        == report(WarehouseBusy("x"))
        == report(OSError(28, "full"))
        == ExitCode.STORAGE
    )


def test_storage_in_trouble_is_told(nightcrawl: Command, installation: Installation) -> None:
    Path(installation.frontier).write_bytes(b"this is no database" * 100)
    assert nightcrawl("status").exit_code == ExitCode.STORAGE


# -- the whole ---------------------------------------------------------------------------------------------------
def test_every_command_and_option_is_in_the_documentation() -> None:
    import typer

    text = (ROOT / "docs/cli.md").read_text()
    group = typer.main.get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        assert f"`nightcrawl {name}" in text, name
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and option != "--help":
                    assert option in text, f"{name} {option}"


def test_status_starts_without_dagster_duckdb_and_parsers() -> None:
    """What makes it quick; half a second of CPU is for the slowest machines."""
    code = (
        "import sys; sys.argv = ['nightcrawl', 'status']\n"
        "from crawl_assets.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0, end.code\n"
        "loaded = {'dagster', 'duckdb', 'selectolax', 'httpx', 'resources.site.model'} & sys.modules.keys()\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        cwd=ROOT,
        env={"NIGHTCRAWL_DATA": "/nonexistent", "PATH": ""},
    )
