"""The site as a process: started, asked, stopped; and its command line."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from practice_site import many_sites, practice_site_process, practice_web_process, site_config
from practice_site.command import argument_parser, configs_from, main


def test_a_child_serves_and_answers_and_ends() -> None:
    with practice_site_process(n_products=20, calendar_trap=True) as site:
        with urllib.request.urlopen(site.url + "books") as reply:
            assert b"All books" in reply.read()
        assert [entry["path"] for entry in site.requests(prefix="/books")] == ["/books"]
        assert site.stats()["by_status"] == {"200": 1}
        site.set(dead_links=1)
        site.night(2)
        assert any(url.endswith("/dead/1") for url in site.truth().walk().dead)
        assert len(site.expected_items()) == 20
        site.reset()
        assert site.requests() == []
        with pytest.raises(ValueError, match="colour"):
            site.set(colour="red")
    with pytest.raises(OSError):
        urllib.request.urlopen(site.url, timeout=2)


def test_one_child_serves_many_domains() -> None:
    with practice_web_process(many_sites(3, site_config(n_products=5))) as sites:
        assert len({site.domain for site in sites}) == 3
        assert len({site.pid for site in sites}) == 1
        for site in sites:
            urllib.request.urlopen(site.url).close()
            assert site.stats()["requests"] == 1


def test_a_child_that_cannot_listen_says_why() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(RuntimeError, match=f"127.0.0.1:{port}: the port is in use"),
            practice_site_process(n_products=1, port=port),
        ):
            pass


def test_the_command_runs_until_it_is_told_to_stop() -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "practice_site", "--port", "0", "--products", "5", "--preset", "tame"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert child.stdout is not None
    url = child.stdout.readline().split()[3]
    with urllib.request.urlopen(url) as reply:
        assert reply.status == 200
    os.kill(child.pid, signal.SIGTERM)
    assert child.wait(10) == 0
    child.stdout.close()


def test_flags_change_the_preset() -> None:
    arguments = argument_parser().parse_args(
        [
            "--preset",
            "wild",
            "--no-calendar-trap",
            "--rate",
            "3.5",
            "--robots",
            "none",
            "--layout",
            "2",
            "--domains",
            "2",
            "--night",
            "4",
        ]
    )
    first, second = configs_from(arguments)
    assert (first.seed, second.seed, first.night) == (1, 2, 4)
    assert (first.behaviour.calendar_trap, first.behaviour.rate) == (False, 3.5)
    assert (first.behaviour.robots, first.behaviour.layout) == ("none", 2)
    assert first.behaviour.session_trap == "everywhere"


def test_wrong_arguments_end_with_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--products", "0"])
    assert ended.value.code == 2
    assert "n_products=0" in capsys.readouterr().err
