"""Alerts reach a real mail server and webhook, once per night and cause."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from crawl_assets.automation.alerts import Alert, AlertChannels, deliver_once
from resources.frontier.memory import MemoryFrontier

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
