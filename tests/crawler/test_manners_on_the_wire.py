"""Who we say we are, what we do where a server tells its quota, and where every page is the same: seen by a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from resources.crawler.territory import DomainRules
from resources.site.load import load_site_text
from resources.site.model import Site
from tests.crawler.house import House

#: (status, more headers, body)
Reply = tuple[int, dict[str, str], str]


@dataclass
class Seen:
    path: str
    headers: dict[str, str]
    status: int


class Server(ThreadingHTTPServer):
    """Answers with what `reply` makes of a path; keeps what was asked, robots.txt and sitemaps apart."""

    daemon_threads = True

    def __init__(self, reply: Callable[[str], Reply]) -> None:
        self.reply = reply
        self.seen: list[Seen] = []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def domain(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = (
        True  # head and body are two writes: the second would wait 40 ms for the first's ACK
    )
    server: Server

    def do_GET(self) -> None:
        status, more, text = 404, dict[str, str](), "nothing here"
        if self.path != "/robots.txt" and "sitemap" not in self.path:
            with self.server.lock:
                status, more, text = self.server.reply(self.path)
                headers = {name.lower(): value for name, value in self.headers.items()}
                self.server.seen.append(Seen(self.path, headers, status))
        body = text.encode()
        self.send_response(status)
        for name, value in {"content-type": "text/html", "content-length": str(len(body)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def serving(reply: Callable[[str], Reply]) -> Iterator[Server]:
    server = Server(reply)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def name(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def shop(count: int) -> Callable[[str], Reply]:
    links = "".join(f"<a href='/thing/{name(n)}'>{name(n)}</a> " for n in range(count))

    def reply(path: str) -> Reply:
        return 200, {}, f"<html><h1>{path}</h1>{links if path == '/' else f'About {path}.'}</html>"

    return reply


def site_of(text: str) -> Site:
    site, problems = load_site_text(text, "shop.yaml")
    assert site is not None, problems
    return site


def test_every_request_says_who_we_are_and_where_we_are_reached(tmp_path: Path) -> None:
    with serving(shop(10)) as server:
        house = House(tmp_path)
        house.write(server.domain, identity={"contact": "crawl@acme.example"}, items={}, canaries=[])
        house.night(server.domain)
    assert len(server.seen) == 11
    assert {one.headers["user-agent"] for one in server.seen} == {"Nightcrawl/0.1 (+crawl@acme.example)"}
    assert {one.headers["from"] for one in server.seen} == {"crawl@acme.example"}


def test_an_agent_of_the_pool_stays_with_its_domain(tmp_path: Path) -> None:
    agents = [f"Acme/{n} (+https://acme.example/bot)" for n in range(5)]
    with serving(shop(20)) as server:
        for night in range(2):
            house = House(tmp_path / str(night))
            house.write(server.domain, identity={"agents": agents}, items={}, canaries=[])
            house.night(server.domain)
    assert len({one.headers["user-agent"] for one in server.seen}) == 1
    listed = ", ".join(f"'{agent}'" for agent in agents)
    site = site_of(f"domains: ['*.shop.example']\nidentity: {{agents: [{listed}]}}\n")
    chosen = {f"{n}.shop.example": DomainRules(f"{n}.shop.example", site).agent for n in range(60)}
    assert set(chosen.values()) == set(agents), "all of the pool are in use"
    assert all(DomainRules(domain, site).agent == agent for domain, agent in chosen.items())


def test_a_quota_that_is_told_is_kept_without_a_refusal(tmp_path: Path) -> None:
    count, window = 50, 2.0
    used: dict[int, int] = {}
    inner = shop(60)

    def reply(path: str) -> Reply:
        now = time.time()
        number = int(now // window)
        used[number] = used.get(number, 0) + 1
        left = count - used[number]
        told = {
            "RateLimit-Policy": f'"default";q={count};w={window:g}',
            "RateLimit": f'"default";r={max(0, left)};t={int((number + 1) * window - now) + 1}',
        }
        status, more, text = inner(path)
        return (429, told, "later") if left < 0 else (status, more | told, text)

    with serving(reply) as server:
        house = House(tmp_path, pace={})
        house.write(server.domain, sitemaps="off", items={}, canaries=[])
        report = house.night(server.domain)[server.domain]
    assert report.ok == 61
    assert [one.status for one in server.seen if one.status == 429] == []


def test_a_site_that_gives_one_page_for_everything_ends_the_night_and_keeps_the_rest(tmp_path: Path) -> None:
    links = "".join(f"<a href='/{name(n % 23)}/{name(n)}/x'>more</a> " for n in range(900))
    with serving(lambda path: (200, {}, f"<html><p>Welcome.</p>{links}</html>")) as server:
        house = House(tmp_path)
        house.write(server.domain, sitemaps="off", items={}, canaries=[])
        report = house.night(server.domain)[server.domain]
        assert report.end == "paused"
        assert "the same few" in report.detail
        counts = house.counts(server.domain)
        assert len(server.seen) < 450
        assert counts.pending + counts.excluded > 400
