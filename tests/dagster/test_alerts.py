"""Alerts reach a real mail server and webhook, once per night and cause."""

# No `from __future__ import annotations` here: Dagster reads an op's annotations as objects, not as text.

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import dagster as dg
import pytest
from dagster import AssetCheckEvaluation

from crawl_assets.automation.alerts import Alert, AlertChannels, deliver_once
from crawl_assets.automation.check_alerts import check_alerts
from crawl_assets.stages.night import NIGHT_TAG
from practice_site import practice_site_process
from resources.frontier.memory import MemoryFrontier
from resources.installation_resource import InstallationResource
from tests.dagster.conftest import NIGHT, House

ALERT = Alert(
    "2026-11-29", "check canary", ("a.example", "b.example"), "them: a wall", "http://127.0.0.1:3000/runs/1"
)


class MailHandler(socketserver.StreamRequestHandler):
    """Enough SMTP (RFC 5321) to receive a message."""

    def handle(self) -> None:
        def say(text: str) -> None:
            self.wfile.write(text.encode() + b"\r\n")

        say("220 mail.example")
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"DATA":
                say("354 go on")
                lines = []
                while (line := self.rfile.readline()) != b".\r\n":
                    lines.append(line)
                self.server.received.append(b"".join(lines).decode())  # type: ignore[attr-defined]
            say("221 bye" if word == b"QUIT" else "250 ok")
            if word == b"QUIT":
                return


class HookHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(json.loads(body)["text"])  # type: ignore[attr-defined]
        self.send_response(getattr(self.server, "status", 200))
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(server: Any) -> Iterator[Any]:
    server.received = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def test_mail_and_webhook_say_what_where_and_link_to_the_run() -> None:
    with (
        serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailHandler)) as mail,
        serving(HTTPServer(("127.0.0.1", 0), HookHandler)) as hook,
    ):
        channels = AlertChannels.from_environment(
            {
                "NIGHTCRAWL_ALERT_SMTP": f"smtp://127.0.0.1:{mail.server_address[1]}",
                "NIGHTCRAWL_ALERT_TO": "ops@shop.example, on-call@shop.example",
                "NIGHTCRAWL_ALERT_WEBHOOK": f"http://127.0.0.1:{hook.server_address[1]}/hook",
            }
        )
        assert deliver_once([ALERT], channels, MemoryFrontier()) == [ALERT]
    for text in (*mail.received, *hook.received):
        assert "check canary" in text
        assert "a.example" in text
        assert "/runs/1" in text
    assert "To: ops@shop.example, on-call@shop.example" in mail.received[0]


def test_the_same_cause_is_told_once_a_night() -> None:
    memory = MemoryFrontier()
    with serving(HTTPServer(("127.0.0.1", 0), HookHandler)) as hook:
        channels = AlertChannels(webhook=f"http://127.0.0.1:{hook.server_address[1]}/")
        deliver_once([ALERT], channels, memory)
        deliver_once([ALERT], channels, memory)
        other = Alert("2026-11-30", ALERT.cause, ALERT.domains, ALERT.words, ALERT.link)
        deliver_once([other], channels, memory)
    assert len(hook.received) == 2


def test_an_alert_that_was_refused_is_tried_again() -> None:
    memory = MemoryFrontier()
    with serving(HTTPServer(("127.0.0.1", 0), HookHandler)) as hook:
        channels = AlertChannels(webhook=f"http://127.0.0.1:{hook.server_address[1]}/")
        hook.status = 500
        with pytest.raises(OSError, match="500"):
            deliver_once([ALERT], channels, memory)
        hook.status = 200
        assert deliver_once([ALERT], channels, memory) == [ALERT]


def test_nothing_configured_sends_nothing() -> None:
    assert not AlertChannels.from_environment({}).any


# -- checks that fail in runs that go on -------------------------------------------------------------------------------
def tick(house: House, cursor: str | None = None) -> str:
    """One look of the sensor; returns its cursor."""
    resource = InstallationResource(data=str(house.installation.data), sites=str(house.installation.sites))
    with dg.build_sensor_context(instance=house.instance, cursor=cursor) as context:
        found = check_alerts(context, installation=resource)
    assert isinstance(found, dg.SensorResult) and found.cursor
    return found.cursor


def checked(house: House, night: str, *found: tuple[str, bool, dg.AssetCheckSeverity]) -> None:
    """A run that ends well, in which `ban_signals` said this of these domains."""

    @dg.op
    def says(context: dg.OpExecutionContext) -> None:
        # Dagster's signature leaves this event out; its context takes it.
        log: Callable[[Any], None] = context.log_event
        for domain, passed, severity in found:
            log(
                AssetCheckEvaluation(
                    asset_key=dg.AssetKey("fetched_pages"),
                    check_name="ban_signals",
                    passed=passed,
                    metadata={},
                    severity=severity,
                    description="40 of 50 requests met a wall",
                    partition=domain,
                )
            )

    @dg.job(tags={NIGHT_TAG: night})
    def crawl() -> None:
        says()

    assert crawl.execute_in_process(instance=house.instance).success


def test_errors_of_checks_in_runs_that_went_on_are_one_message_per_night_and_check(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    error, warning = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
    with (
        serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailHandler)) as mail,
        serving(HTTPServer(("127.0.0.1", 0), HookHandler)) as hook,
    ):
        monkeypatch.setenv("NIGHTCRAWL_ALERT_SMTP", f"smtp://127.0.0.1:{mail.server_address[1]}")
        monkeypatch.setenv("NIGHTCRAWL_ALERT_TO", "ops@shop.example")
        monkeypatch.setenv("NIGHTCRAWL_ALERT_WEBHOOK", f"http://127.0.0.1:{hook.server_address[1]}/")
        checked(house, "2026-11-29", ("a.example", False, error), ("w.example", False, warning))
        checked(house, "2026-11-29", ("b.example", False, error), ("c.example", True, error))
        cursor = tick(house)
        checked(house, "2026-11-29", ("d.example", False, error))  # the same night and cause: told already
        cursor = tick(house, cursor)
        assert len(hook.received) == len(mail.received) == 1
        for text in (*mail.received, *hook.received):
            assert "check ban_signals (2 domains)" in text.replace("\n", "")
            assert "a.example" in text and "b.example" in text
            assert "w.example" not in text and "c.example" not in text
            assert "40 of 50 requests met a wall" in text
        checked(house, "2026-11-30", ("a.example", False, error))
        tick(house, cursor)
        assert len(hook.received) == 2


def test_a_message_about_a_check_that_was_refused_is_tried_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(HTTPServer(("127.0.0.1", 0), HookHandler)) as hook:
        monkeypatch.setenv("NIGHTCRAWL_ALERT_WEBHOOK", f"http://127.0.0.1:{hook.server_address[1]}/")
        checked(house, "2026-11-29", ("a.example", False, dg.AssetCheckSeverity.ERROR))
        hook.status = 503
        with pytest.raises(OSError, match="503"):
            tick(house)
        hook.status = 200
        received = len(hook.received)
        tick(house)
        assert len(hook.received) == received + 1


def test_a_walled_domain_is_told_once_by_the_run_or_by_the_check(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serving(HTTPServer(("127.0.0.1", 0), HookHandler)) as hook,
        practice_site_process(n_products=4, walled=True) as site,
    ):
        monkeypatch.setenv("NIGHTCRAWL_ALERT_WEBHOOK", f"http://127.0.0.1:{hook.server_address[1]}/")
        house.write_site(site.domain)
        assert not house.run(*NIGHT, first=site.domain).success
        cursor = tick(house)
        assert hook.received == []  # the failed run's own alert names the canary
        canaries = house.loaded.resolve_job_def("canaries").execute_in_process(
            instance=house.instance,
            tags={
                "dagster/asset_partition_range_start": site.domain,
                "dagster/asset_partition_range_end": site.domain,
            },
            run_config=house.config(),
        )
        assert canaries.success
        tick(house, cursor)
        (text,) = hook.received
        assert "check canary" in text and site.domain in text
