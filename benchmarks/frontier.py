"""What an operation of the frontier costs as it grows: CPU microseconds, resident memory, file size.

    python -m benchmarks.frontier                      # 10 k, 100 k, 1 M URLs on SQLite, beside memory
    python -m benchmarks.frontier --ten-million        # also 10 M (several minutes, about 4 GB of disk)
    python -m benchmarks.frontier --json               # one object a line, for a program

The frontier is grown by `enqueue` batches in which 60 % of the URLs are known already, drawn uniformly from
all that have been met (the worst case for any cache). At each size the same operations are timed:

* `enqueue`: per URL of such batches;
* `claim`: per URL, 50 at a time;
* `ack`: per page, 50 a commit, with a log row and no outlinks;
* `page`: commit of a page with its log row and 75 outlinks: 50 from the 500 links that stand on every page,
  22 from the 50,000 URLs met last, 3 new;
* `scattered`: the same, but the 22 drawn from all that have been met.

CPU time of this process, the making of the test URLs not counted. Ratios matter, not the times.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from resources.frontier.base import Ack, Claim, Discovery, FetchLogRow, Frontier, Verdict
from resources.frontier.open import open_frontier

BATCH = 2_500
KNOWN_SHARE = 0.6
DOMAINS = 20
PAGES_PER_COMMIT = 50
NAVIGATION = 500
NEAR = 50_000
OPERATIONS = ("enqueue", "claim", "ack", "page", "scattered")


def discovery(number: int) -> Discovery:
    """The test URL of a number: a key like random bits, a path of common length."""
    # Ten in a row belong together, as new links of one page do.
    page = number // 10
    domain = f"d{page % DOMAINS}.example"
    url = f"https://{domain}/library/section-{number % 97}/article-{number:09d}.html"
    key = hashlib.blake2b(url.encode(), digest_size=16).digest()
    parent = hashlib.blake2b(b"parent %d" % page, digest_size=16).digest()
    return Discovery(key, url, domain, 3, 100 + page % 4, parent=parent)


def resident_mb() -> float:
    """Resident memory of this process, from /proc."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmRSS line")


class Stopwatch:
    """CPU and wall seconds of the blocks run under it, the longest block, and how many things were done."""

    def __init__(self) -> None:
        self.cpu = self.wall = self.longest = 0.0
        self.count = 0

    @contextmanager
    def lap(self, count: int) -> Iterator[None]:
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.cpu += time.process_time() - cpu
        wall = time.perf_counter() - wall
        self.wall += wall
        self.longest = max(self.longest, wall)
        self.count += count

    def report(self, name: str) -> dict[str, float]:
        return {
            f"{name}_cpu_us": round(self.cpu / self.count * 1e6, 2),
            f"{name}_wall_us": round(self.wall / self.count * 1e6, 2),
            f"{name}_longest_ms": round(self.longest * 1e3, 1),
        }


class Load:
    """Grows a frontier and times it."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self.size = 0
        self.now = 1_700_000_000.0
        self.random = random.Random(7)

    def batch(self, known: int, new: int) -> list[Discovery]:
        numbers = [self.random.randrange(self.size) for _ in range(known)] if self.size else []
        numbers += range(self.size, self.size + new)
        self.size += new
        return [discovery(number) for number in numbers]

    def enqueue(self, watch: Stopwatch) -> None:
        known = int(BATCH * KNOWN_SHARE)
        urls = self.batch(known, BATCH - known)
        with watch.lap(len(urls)):
            self.frontier.enqueue(urls, self.now)

    def grow(self, target: int) -> Stopwatch:
        watch = Stopwatch()
        while self.size < target:
            self.enqueue(watch)
        return watch

    def claim(self, watch: Stopwatch) -> list[Claim]:
        domain = f"d{self.random.randrange(DOMAINS)}.example"
        with watch.lap(PAGES_PER_COMMIT):
            return self.frontier.claim(domain, PAGES_PER_COMMIT, "bench", 300, self.now)

    def commit(self, claims: list[Claim], outlinks: Callable[[], list[Discovery]], watch: Stopwatch) -> None:
        acks = [
            Ack(
                claim, Verdict.DONE, self.now, self.now + 86_400, status=200, content_hash=claim.key,
                outlinks=outlinks(), log=_log(claim, self.now),
            )
            for claim in claims
        ]  # fmt: skip
        with watch.lap(len(acks)):
            self.frontier.commit(acks, self.now)

    def outlinks(self, reach: int) -> list[Discovery]:
        navigation = min(NAVIGATION, self.size)
        numbers = [self.random.randrange(navigation) for _ in range(50)]
        numbers += [self.random.randrange(max(0, self.size - reach), self.size) for _ in range(22)]
        return [discovery(number) for number in numbers] + self.batch(0, 3)

    def measure(self, rounds: int) -> dict[str, float]:
        watches = {name: Stopwatch() for name in OPERATIONS}
        for _ in range(rounds):
            self.enqueue(watches["enqueue"])
        links: dict[str, Callable[[], list[Discovery]]] = {
            "ack": list,
            "page": lambda: self.outlinks(NEAR),
            "scattered": lambda: self.outlinks(self.size),
        }
        for name, outlinks in links.items():
            for _ in range(rounds):
                self.commit(self.claim(watches["claim"]), outlinks, watches[name])
        reports = [watch.report(name) for name, watch in watches.items()]
        return {name: value for report in reports for name, value in report.items()}


def _log(claim: Claim, now: float) -> FetchLogRow:
    return FetchLogRow(claim.url, claim.domain, "run", "bench", 1, now, 3.5, 9.0, 200, "ok", wire_bytes=9_000)


def run(place: str, sizes: list[int], rounds: int, as_json: bool) -> None:
    frontier = open_frontier(place)
    load = Load(frontier)
    name = place.partition(":")[0] if place == "memory:" else "sqlite"
    for size in sizes:
        grown = load.grow(size)
        row: dict[str, float | str] = {"backend": name, "urls": load.size}
        row |= grown.report("growth")
        row |= load.measure(rounds)
        row["rss_mb"] = round(resident_mb())
        row["disk_mb"] = 0 if name == "memory" else round(_disk(Path(place)) / 2**20)
        print(json.dumps(row) if as_json else _line(row), flush=True)
    frontier.close()


def _disk(path: Path) -> int:
    return sum(file.stat().st_size for file in path.parent.glob(path.name + "*"))


def _line(row: dict[str, float | str]) -> str:
    parts = [
        f"{name} {row[f'{name}_cpu_us']:>7} us (longest call {row[f'{name}_longest_ms']} ms)"
        for name in ("growth", *OPERATIONS)
    ]
    head = f"{row['backend']:<7}{row['urls']:>10,} URLs: "
    return head + ", ".join(parts) + f", rss {row['rss_mb']} MB, disk {row['disk_mb']} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost per frontier operation by frontier size.")
    parser.add_argument("--ten-million", action="store_true", help="also 10 M URLs")
    parser.add_argument("--sizes", help="comma-separated sizes instead of the default ones")
    parser.add_argument("--rounds", type=int, default=40, help="batches per measurement")
    parser.add_argument("--backend", choices=["all", "memory", "sqlite"], default="all")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sizes = [10_000, 100_000, 1_000_000] + [10_000_000] * arguments.ten_million
    if arguments.sizes:
        sizes = [int(size) for size in arguments.sizes.split(",")]
    # SQLite first: memory that the other back-end had would count as resident here.
    if arguments.backend != "memory":
        with tempfile.TemporaryDirectory(prefix="nightcrawl-bench-") as folder:
            run(f"{folder}/frontier.sqlite", sizes, arguments.rounds, arguments.json)
    if arguments.backend != "sqlite":
        run("memory:", [size for size in sizes if size <= 1_000_000], arguments.rounds, arguments.json)


if __name__ == "__main__":
    main()
