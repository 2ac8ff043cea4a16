"""Alerts to people: e-mail and a Slack-compatible webhook, one message per night and cause.

    NIGHTCRAWL_ALERT_WEBHOOK  URL that takes `{"text": "..."}`
    NIGHTCRAWL_ALERT_SMTP     smtp://[user:password@]host[:port]; smtps:// for TLS from the start
    NIGHTCRAWL_ALERT_FROM     sender; default nightcrawl@<this host>
    NIGHTCRAWL_ALERT_TO       receivers, separated by commas
    NIGHTCRAWL_UI             where the UI is, for links; default http://127.0.0.1:3000

Nothing set: nothing is sent. An alert that cannot be delivered raises; its sensor shows it and tries again.
"""

from __future__ import annotations

import json
import os
import smtplib
import socket
import ssl
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

from resources.frontier.base import Frontier

__all__ = ["Alert", "AlertChannels", "deliver_once"]

#: A mail server or webhook that does not answer must not hold up the other sensors.
TIMEOUT_S = 10.0
#: Where `nightcrawl ui` serves.
UI = "http://127.0.0.1:3000"
#: Domains named in one message; the rest is counted.
NAMED = 20


@dataclass(frozen=True, slots=True)
class Alert:
    """One message. `night` and `cause` identify it: the same pair is sent once."""

    night: str
    cause: str
    domains: tuple[str, ...]
    words: str
    link: str

    @property
    def subject(self) -> str:
        n = len(self.domains)
        where = f"{n} domains" if n != 1 else self.domains[0]
        return f"Nightcrawl {self.night}: {self.cause} ({where})"

    @property
    def text(self) -> str:
        named = "\n".join(f"  {d}" for d in self.domains[:NAMED])
        more = f"\n  and {len(self.domains) - NAMED} more" if len(self.domains) > NAMED else ""
        return f"{self.subject}\n\n{self.words}\n\n{named}{more}\n\n{self.link}\n"


@dataclass(frozen=True, slots=True)
class AlertChannels:
    """Where alerts go. Empty strings: nowhere."""

    webhook: str = ""
    smtp: str = ""
    sender: str = ""
    receivers: tuple[str, ...] = ()
    ui: str = UI

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> AlertChannels:
        env = os.environ if environ is None else environ
        return cls(
            webhook=env.get("NIGHTCRAWL_ALERT_WEBHOOK", ""),
            smtp=env.get("NIGHTCRAWL_ALERT_SMTP", ""),
            sender=env.get("NIGHTCRAWL_ALERT_FROM", "") or f"nightcrawl@{socket.gethostname()}",
            receivers=tuple(a.strip() for a in env.get("NIGHTCRAWL_ALERT_TO", "").split(",") if a.strip()),
            ui=env.get("NIGHTCRAWL_UI", "").rstrip("/") or UI,
        )

    @property
    def any(self) -> bool:
        return bool(self.webhook or (self.smtp and self.receivers))

    def send(self, alert: Alert) -> None:
        """Deliver over every channel that is set; OSError or smtplib.SMTPException when one refuses."""
        if self.webhook:
            self._post(alert)
        if self.smtp and self.receivers:
            self._mail(alert)

    def _post(self, alert: Alert) -> None:
        body = json.dumps({"text": alert.text}).encode()
        request = urllib.request.Request(self.webhook, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            response.read()

    def _mail(self, alert: Alert) -> None:
        message = EmailMessage()
        message["Subject"], message["From"] = alert.subject, self.sender
        message["To"] = ", ".join(self.receivers)
        message.set_content(alert.text)
        parts = urlsplit(self.smtp)
        host = parts.hostname or "localhost"
        if parts.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                host, parts.port or 465, timeout=TIMEOUT_S, context=ssl.create_default_context()
            )
        else:
            server = smtplib.SMTP(host, parts.port or 25, timeout=TIMEOUT_S)
        with server:
            if parts.username:
                if parts.scheme != "smtps":
                    server.starttls(context=ssl.create_default_context())
                server.login(unquote(parts.username), unquote(parts.password or ""))
            server.send_message(message)


def deliver_once(alerts: Iterable[Alert], channels: AlertChannels, memory: Frontier) -> list[Alert]:
    """Send what was not sent for its night and cause before; returns what was sent.

    Remembered after the delivery: a crash in between sends twice rather than never.
    """
    sent = []
    for alert in alerts:
        name = f"alert:{alert.night}:{alert.cause}"
        if memory.get_value(name) is not None:
            continue
        channels.send(alert)
        memory.set_value(name, "sent")
        sent.append(alert)
    return sent
