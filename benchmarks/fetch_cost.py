"""What one fetch costs: CPU of this process per page of 25 KB, served on loopback by another process.

    python -m benchmarks.fetch_cost [PAGES]

Prints the whole fetcher beside the bare transport library, which is the floor.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

import uvloop
from pyreqwest.client import ClientBuilder

from resources.fetcher.base import FetchProfile, FetchRequest
from resources.fetcher.web import WebFetcher

WORKERS = 8
_SERVER = """
import asyncio
BODY = (b"<p>hello <a href='/a'>there</a></p>" * 1000)[:25_000]
ANSWER = (b'HTTP/1.1 200 OK\\r\\nServer: bench\\r\\nContent-Type: text/html; charset=utf-8\\r\\nETag: "abc"\\r\\n'
          b"Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\\r\\nContent-Length: 25000\\r\\n\\r\\n" + BODY)

class Server(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.seen = transport, b""

    def data_received(self, data):
        self.seen += data
        while b"\\r\\n\\r\\n" in self.seen:
            self.seen = self.seen.split(b"\\r\\n\\r\\n", 1)[1]
            self.transport.write(ANSWER)

async def main():
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


async def whole(base: str, pages: int) -> None:
    fetcher = WebFetcher()
    profile = FetchProfile(
        headers=(("user-agent", "bench/1.0 (+https://bench.example)"),), allow_networks=("127.0.0.0/8",)
    )

    async def work(count: int) -> None:
        for number in range(count):
            result = await fetcher.fetch(FetchRequest(f"{base}/p/{number}", profile))
            assert len(result.body) == 25_000, result

    await work(50)
    begin = time.process_time()
    await asyncio.gather(*(work(pages // WORKERS) for _ in range(WORKERS)))
    print(f"fetcher    {(time.process_time() - begin) / pages * 1e6:5.0f} µs of CPU a page")
    await fetcher.close()


async def bare(base: str, pages: int) -> None:
    client = ClientBuilder().gzip(False).follow_redirects(False).no_proxy().build()

    async def work(count: int) -> None:
        for number in range(count):
            async with client.get(f"{base}/p/{number}").build_streamed() as response:
                assert len(await response.body_reader.read(20_000_000) or b"") == 25_000

    await work(50)
    begin = time.process_time()
    await asyncio.gather(*(work(pages // WORKERS) for _ in range(WORKERS)))
    print(f"pyreqwest  {(time.process_time() - begin) / pages * 1e6:5.0f} µs of CPU a page")
    await client.close()
    await asyncio.sleep(0.2)


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    with subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        base = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        try:
            uvloop.run(whole(base, pages))
            uvloop.run(bare(base, pages))
        finally:
            server.kill()


if __name__ == "__main__":
    main()
