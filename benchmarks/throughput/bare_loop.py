"""A durable crawl with nothing around it: what the libraries alone cost, on the same pages.

    python -m benchmarks.throughput.bare_loop FOLDER URL…

pyreqwest on uvloop, links by selectolax and ada-url, URLs and bodies (zstd level 3) in SQLite with a commit every 50 pages;
killed, it goes on where the last commit was. It knows no robots.txt, pace, retries, errors, encodings, walls, traps, limits
of any kind, log, or dedup of what is spelled in two ways. Prints one JSON line, as the contestants do.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from collections import deque
from pathlib import Path

import ada_url
import uvloop
import zstandard
from pyreqwest.client import Client, ClientBuilder
from selectolax.lexbor import LexborHTMLParser

__all__ = ["Loop"]

#: Requests in flight to each host, as the other contestants have.
AT_ONCE = 16
#: Pages a commit: what a kill costs.
BATCH = 50
#: The transport's threads need a moment after their client closes.
_LAST_MOMENT_S = 0.2
_SCHEMA = """
PRAGMA journal_mode = wal;
PRAGMA synchronous = normal;
CREATE TABLE IF NOT EXISTS url (url TEXT PRIMARY KEY, done INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS page (url TEXT PRIMARY KEY, status INTEGER NOT NULL, body BLOB NOT NULL);
"""


class Loop:
    """One crawl of the hosts of `seeds`, kept in `folder`."""

    def __init__(self, folder: Path, seeds: list[str]) -> None:
        self._base = sqlite3.connect(folder / "crawl.sqlite")
        self._base.executescript(_SCHEMA)
        self._squeeze = zstandard.ZstdCompressor(level=3).compress
        self._seen: set[str] = set()
        self._waiting: dict[str, deque[str]] = {_host(seed): deque() for seed in seeds}
        self._in_flight: dict[str, int] = dict.fromkeys(self._waiting, 0)
        self._new: list[tuple[str]] = []
        self._fetched: list[tuple[str, int, bytes]] = []
        self.pages = self.body_bytes = self.stored_bytes = 0
        for url, done in self._base.execute("SELECT url, done FROM url"):
            self._seen.add(url)
            if not done:
                self._waiting[_host(url)].append(url)
        for seed in seeds:
            self._meet(seed)

    async def run(self) -> None:
        """Until nothing is left."""
        client = ClientBuilder().follow_redirects(False).build()
        try:
            await asyncio.gather(
                *(self._lane(client, host) for host in self._waiting for _ in range(AT_ONCE))
            )
        finally:
            self._commit()
            await client.close()
            await asyncio.sleep(_LAST_MOMENT_S)

    async def _lane(self, client: Client, host: str) -> None:
        waiting = self._waiting[host]
        while waiting or self._in_flight[host]:
            if not waiting:
                await asyncio.sleep(0.01)  # another lane may yet find some
                continue
            url = waiting.popleft()
            self._in_flight[host] += 1
            response = await client.get(url).build().send()
            body = bytes(await response.bytes())
            self._in_flight[host] -= 1
            self._take(url, response.status, response.headers.get("content-type") or "", body)

    def _take(self, url: str, status: int, kind: str, body: bytes) -> None:
        if status == 200:
            self.pages += 1
            if "html" in kind:
                nodes = LexborHTMLParser(body).css("a[href],area[href]")
                for href in dict.fromkeys(
                    (node.attributes["href"] or "").partition("#")[0] for node in nodes
                ):
                    if href:
                        self._follow(url, href)
        squeezed = self._squeeze(body)
        self.body_bytes += len(body)
        self.stored_bytes += len(squeezed)
        self._fetched.append((url, status, squeezed))
        if len(self._fetched) >= BATCH:
            self._commit()

    def _follow(self, base: str, href: str) -> None:
        try:
            self._meet(ada_url.join_url(base, href))
        except ValueError:
            return  # no address

    def _meet(self, url: str) -> None:
        if url not in self._seen and (waiting := self._waiting.get(_host(url))) is not None:
            self._seen.add(url)
            self._new.append((url,))
            waiting.append(url)

    def _commit(self) -> None:
        with self._base:
            self._base.executemany("INSERT OR IGNORE INTO url (url) VALUES (?)", self._new)
            self._base.executemany("INSERT OR REPLACE INTO page VALUES (?, ?, ?)", self._fetched)
            self._base.executemany(
                "UPDATE url SET done = 1 WHERE url = ?", [(u,) for u, _, _ in self._fetched]
            )
        self._new.clear()
        self._fetched.clear()


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


async def _main(folder: Path, seeds: list[str]) -> None:
    begin, start_cpu = time.monotonic(), time.process_time()
    loop = Loop(folder, seeds)
    await loop.run()
    told = {"pages": loop.pages, "seconds": time.monotonic() - begin, "start_cpu": start_cpu}
    print(json.dumps(told | {"body_bytes": loop.body_bytes, "stored_bytes": loop.stored_bytes}))


if __name__ == "__main__":
    uvloop.run(_main(Path(sys.argv[1]), sys.argv[2:]))
