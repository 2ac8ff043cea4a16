"""The 429-trend sensor as it runs in production: a daemon ticks it, while a run crawls a site that begins to refuse.

Real processes (`dagster dev`: daemon, code server, run worker) and a real server on loopback. It takes four minutes:
the sensor compares windows of a minute and needs two bad ones after a good one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from practice_site import site_yaml
from tests.dagster.operated import Operated, operated, wait_for

pytestmark = pytest.mark.slow

PAGES = 2_000
RATE = 5.0
#: So long every request is answered; then three of ten are forbidden, whatever the pace.
CALM_S = 62.0
OBSERVATIONS = """query { assetOrError(assetKey: {path: ["fetched_pages"]}) { ... on Asset {
  assetObservations(limit: 500) { partition runId metadataEntries { label
    ... on TextMetadataEntry { text } ... on FloatMetadataEntry { floatValue } } } } } }"""
TICKS = """query($s: InstigationSelector!) { instigationStateOrError(instigationSelector: $s) {
  ... on InstigationState { status ticks(limit: 50) { status } } } }"""


class Refusing(ThreadingHTTPServer):
    """A site of small pages that turns against its visitor. `asked`: the instants of all requests."""

    daemon_threads = True

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.forbidden = 0
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def refuses(self) -> bool:
        with self._lock:
            now = time.time()
            self.asked.append(now)
            refused = now - self.asked[0] > CALM_S and len(self.asked) % 10 in (0, 3, 6)
            self.forbidden += refused
            return refused

    def between(self, start: float, end: float) -> int:
        with self._lock:
            return sum(start <= at < end for at in self.asked)


class _Handler(BaseHTTPRequestHandler):
    server: Refusing

    def do_GET(self) -> None:
        if self.path in ("/robots.txt", "/sitemap.xml"):
            self._answer(404, "nothing here")
        elif self.server.refuses():
            self._answer(403, "<p>You may not read this page today.</p>")
        elif self.path == "/":
            links = "".join(f"<li><a href='/page/{_name(n)}'>{_name(n)}</a>" for n in range(PAGES))
            self._answer(200, f"<html><h1>All pages</h1><ul>{links}</ul></html>")
        else:
            self._answer(200, f"<html><h1>{self.path}</h1><p>This page is about {self.path}.</p></html>")

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


def _name(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


@contextmanager
def refusing() -> Iterator[Refusing]:
    server = Refusing()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def actions(house: Operated, domain: str) -> list[dict[str, Any]]:
    """What the sensor has observed on the domain, the newest first."""
    found = house.ask(OBSERVATIONS)["assetOrError"]["assetObservations"]
    shown = [
        {e["label"]: e.get("text", e.get("floatValue")) for e in o["metadataEntries"]} | {"run": o["runId"]}
        for o in found
        if o["partition"] == domain
    ]
    return [one for one in shown if "trend action" in one]


def ticks(house: Operated) -> list[str]:
    selector = {
        "repositoryName": "__repository__",
        "repositoryLocationName": "nightcrawl",
        "name": "throttling_trend",
    }
    found = house.ask(TICKS, s=selector)["instigationStateOrError"]
    assert found["status"] == "RUNNING", found
    return [tick["status"] for tick in found["ticks"]]


def test_the_daemon_lowers_the_rate_of_a_running_crawl_and_writes_it_on_the_domain(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with refusing() as server, operated(tmp_path_factory.mktemp("trend")) as house:
        domain = f"127.0.0.1:{server.server_address[1]}"
        pace = {"rate": RATE, "ramp_up": "1s", "jitter": 0.1}
        changes = {"schedule": "0 0 1 1 *", "pace": pace, "items": {}, "canaries": []}
        text = site_yaml([domain], name="shop", changes=changes)
        (house.installation.sites / "shop.yaml").write_text(text)
        house.up()
        wait_for(lambda: domain in house.partitions_of("fetched_pages"), 120.0)
        run = house.launch("fetch", domain)
        seen = wait_for(lambda: actions(house, domain), 420.0, every=1.0)
        at = time.time()

        # An observation on the partition, made by no run but by the sensor, in words.
        first = seen[-1]
        assert first["trend action"] in ("cool_down", "ease")
        assert 0 < first["rate factor"] < 1
        assert "403" in first["trend reason"]
        assert house.status(run) == "STARTED", "the order must reach a crawl that is under way"
        assert "FAILURE" not in ticks(house)

        # The order stands in the ledger, for this crawl and for the next.
        ledger = house.installation.open_ledger()
        try:
            orders = [one for one in ledger.commands() if one.domain == domain]
            assert orders and orders[-1].kind == "slow_down" and orders[-1].until > at + 3_600
            assert orders[-1].reason == seen[0]["trend reason"]

            # And the running crawl obeys: its own state says so, and the server sees it.
            def obeyed() -> bool:
                row = ledger.load(domain)
                return row is not None and row.command_seq >= orders[-1].seq and row.slow_factor < 1

            wait_for(obeyed, 60.0, every=1.0)
            row = ledger.load(domain)
            assert row is not None and row.slow_reason == orders[-1].reason
            allowed = RATE * orders[-1].factor
            start = time.time()
            time.sleep(20.0)
            assert server.between(start, start + 20.0) <= allowed * 20.0 * 1.1 + 2
        finally:
            ledger.close()
        assert house.status(run) == "STARTED"
        house.terminate(run)
        house.ended(run)
    assert server.forbidden > 0
