"""A server that ends a kept connection just as a request comes: asked once more, at the pace, and nothing counted."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from resources.crawler.lost_requests import IN_ALL, WITHOUT_ANSWER, LostRequests
from resources.frontier.base import Claim, FetchLogRow, Source, State
from tests.crawler.house import House

#: How late a busy machine may notice an arrival.
NOTICED_LATE_S = 0.15
_WORDS = "What the shop keeps in this room is told here in a few words, and no two rooms are alike. " * 5


@dataclass
class Asked:
    path: str
    at: float
    nth_on_connection: int


@dataclass
class Ender:
    """Answers over kept connections; `ends` is asked (path, how often it was asked for, nth on its connection) when a
    request has been read: "fin" and "rst" end the connection instead of an answer."""

    pages: dict[str, str]
    ends: Callable[[str, int, int], str]
    asked: list[Asked] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    port: int = 0

    @property
    def domain(self) -> str:
        return f"127.0.0.1:{self.port}"

    def serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            nth = 0
            while line := lines.readline():
                path = line.split()[1].decode()
                while lines.readline() not in (b"\r\n", b""):
                    """The rest of the head."""
                nth += 1
                body = self.pages.get(path)
                if body is not None:
                    with self.lock:
                        self.times[path] += 1
                        self.asked.append(Asked(path, time.time(), nth))
                        end = self.ends(path, self.times[path], nth)
                    if end:
                        if end == "rst":
                            connection.setsockopt(
                                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                            )
                        return
                status = "200 OK" if body is not None else "404 Not Found"
                data = (body or "nothing here").encode()
                head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(data)}\r\n\r\n"
                connection.sendall(head.encode() + data)


@contextmanager
def ending(count: int, ends: Callable[[str, int, int], str]) -> Iterator[Ender]:
    """A shop of `count` rooms, linked from the front page."""
    rooms = [f"/room/{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(count)]
    pages = {room: f"<html><h1>{room}</h1><p>{room}: {_WORDS}</p></html>" for room in rooms}
    pages["/"] = (
        "<html><h1>Rooms</h1>" + "".join(f"<a href='{room}'>{room}</a> " for room in rooms) + "</html>"
    )
    server = Ender(pages, ends)
    listener = socket.create_server(("127.0.0.1", 0))
    server.port = listener.getsockname()[1]

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # closed below
                return
            threading.Thread(target=server.serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def rows_of(house: House, path: str) -> list[FetchLogRow]:
    frontier = house.installation.open_frontier()
    try:
        return [row for _, row in frontier.read_log(0, 10_000) if row.url.endswith(path)]
    finally:
        frontier.close()


def opened(folder: Path, server: Ender, pace: dict[str, object], attempts: int = 1) -> House:
    house = House(folder, pace=pace)
    house.write(server.domain, sitemaps="off", items={}, canaries=[], retry={"attempts": attempts})
    return house


@pytest.mark.parametrize("how", ["fin", "rst"])
def test_a_request_lost_on_a_kept_connection_is_asked_once_more_at_the_pace(tmp_path: Path, how: str) -> None:
    rate, lost = 40.0, {"/room/ac", "/room/ah", "/room/at"}

    def ends(path: str, times: int, nth: int) -> str:
        return how if path in lost and times == 1 else ""

    with ending(30, ends) as server:
        house = opened(tmp_path, server, {"rate": f"{rate:g}/s", "burst": 1, "ramp_up": 0, "concurrency": 1})
        report = house.night(server.domain)[server.domain]
    assert (report.end, report.ok, report.failed, report.retries) == ("finished", 31, 0, 0)
    assert report.requests == 31 + len(lost) == len(server.asked)
    assert (report.connect_errors, report.causes) == (0, {})
    assert {path: times for path, times in server.times.items() if times > 1} == dict.fromkeys(lost, 2)
    for path in lost:
        first, second = rows_of(house, path)
        assert (first.outcome, first.cause, first.status, first.attempt) == ("lost", "reset", None, 1)
        assert (second.outcome, second.cause, second.status, second.attempt) == ("ok", "", 200, 1)
    counts = house.counts(server.domain)
    assert (counts.done, counts.pending, counts.failed) == (31, 0, 0)
    at = [one.at for one in server.asked]
    for index, start in enumerate(at):
        for later in range(index + 1, len(at)):
            assert later - index + 1 <= 2 + (at[later] - start + NOTICED_LATE_S) * rate


def test_a_server_that_always_ends_so_gets_one_repeat_and_the_ordinary_failure(tmp_path: Path) -> None:
    with ending(3, lambda path, times, nth: "" if path == "/" else "fin") as server:
        house = opened(tmp_path, server, {"rate": "unlimited", "concurrency": 2})
        report = house.night(server.domain)[server.domain]
    assert (report.end, report.ok, report.failed, report.connect_errors) == ("finished", 1, 3, 3)
    assert report.causes == {"reset": 3}
    for path in server.pages.keys() - {"/"}:
        assert server.times[path] == 2
        assert [row.outcome for row in rows_of(house, path)] == ["lost", "failed"]
    for failed in house.records(server.domain, State.FAILED):
        assert (failed.cause, failed.attempts) == ("reset", 1)


def test_of_a_server_that_answers_nothing_nothing_is_repeated(tmp_path: Path) -> None:
    with ending(3, lambda path, times, nth: "fin") as server:
        house = opened(tmp_path, server, {"rate": "unlimited", "concurrency": 2})
        report = house.night(server.domain)[server.domain]
    assert server.times == {"/": 1}
    assert [row.outcome for row in rows_of(house, "/")] == ["failed"]
    assert (report.failed, report.connect_errors) == (1, 1)


def claim(number: int, attempts: int = 0) -> Claim:
    key = number.to_bytes(16)
    return Claim(key, f"http://a.example/{number}", "a.example", 1, 0, Source.LINK, attempts, 0, number, 0.0)


def test_what_is_no_accident_is_not_repeated() -> None:
    lost = LostRequests()
    assert not lost.repeat(claim(0), 0), "nothing was answered: the connection was fresh"
    assert not lost.repeat(claim(0, attempts=1), 7), "it has failed before"
    assert lost.repeat(claim(0), 7)
    assert not lost.repeat(claim(0), 8), "once"
    assert [lost.repeat(claim(n), 9) for n in range(1, 8)] == [True] * WITHOUT_ANSWER + [False] * 2
    assert lost.repeat(claim(8), 10), "it answers again"


def test_what_is_remembered_of_a_server_that_is_not_well_is_bounded() -> None:
    lost = LostRequests()
    assert sum(lost.repeat(claim(n), n + 1) for n in range(2 * IN_ALL)) == IN_ALL
