"""Two worker processes beside one: pages per second of the whole, on domains that are shared out.

    python -m benchmarks.processes [--pages 20000] [--most 2] [--one-processor-each [--servers-too]]
        [--apart | --redis] [--work DIR]

Made pages of 10 KB with 50 links, unlimited pace, as many domains as the most workers; each worker crawls its share
of them from the same data folder. With two processors in all, nginx and whatever else runs take their part of them:
so the CPU seconds of our processes and of nginx are printed too, and how many times one worker's pages so many workers
would fetch on processors of their own, by what a page costs them.

A worker left to itself keeps more than one processor busy (compression, SQLite and the transport have threads).
`--one-processor-each` holds each to a processor of its own, as a container with a limit of one CPU is held: what a
further processor brings, and not what is left of the first one's. `--apart` gives each worker a data folder of its own:
what the machine has for workers that share nothing, and so the most that those who share one folder could reach.
`--redis` has them share a Valkey server instead of a file, which is started for it.

The servers are processes as well, and one worker beside them has what is left of the second processor. `--servers-too`
holds them to the workers' processors: all there is on one processor, and all on two, which is what a second processor
brings where the processors are the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measured import measured
from benchmarks.real_docs.server import serve
from benchmarks.redis_server import redis_server
from benchmarks.throughput.family import cpu_of
from benchmarks.throughput.our_crawl import installation
from benchmarks.throughput.page_sets import made


@dataclass(frozen=True, slots=True)
class Measured:
    """`cpu` of our processes and `server` of nginx and Valkey in seconds per 1,000 pages, starts included."""

    rate: float
    cpu: float
    server: float


def crawl(
    folder: Path,
    seeds: dict[str, str],
    workers: int,
    expected: int | None,
    server: list[str],
    *,
    held: bool,
    apart: bool,
    frontier: str,
) -> Measured:
    """One crawl by so many workers, from the first start to the last end. `server`: the process ids of the servers.

    `held`: each worker to a processor of its own. `apart`: each worker in a folder of its own. `frontier`: its address,
    if it is not in the folder.
    """
    shutil.rmtree(folder, ignore_errors=True)
    places = [folder / str(number) if apart else folder for number in range(workers)]
    for place in places:
        installation(place, seeds).prepare()
    pairs = [f"{domain}={seed}" for domain, seed in seeds.items()]
    begin, before = time.monotonic(), sum(map(cpu_of, server))
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    processes = []
    for number, place in enumerate(places):
        command = [sys.executable, "-m", "benchmarks.throughput.our_crawl", str(place), "1", *pairs]
        command += ["--share", f"{number}/{workers}", "--frontier", frontier]
        if held:
            command = ["taskset", "--cpu-list", str(number), *command]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    outputs = [process.communicate()[0] for process in processes]
    seconds, served = time.monotonic() - begin, sum(map(cpu_of, server)) - before
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = usage.ru_utime + usage.ru_stime - ended.ru_utime - ended.ru_stime
    pages = sum(int(json.loads(output.splitlines()[-1])["pages"]) for output in outputs)
    measured(pages, f"{workers} workers", expected)
    return Measured(pages / seconds, used / pages * 1000, served / pages * 1000)


def hold(pid: str, processors: int) -> None:
    """A running process and its threads, to the first so many processors."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), range(processors))


def compare(
    work: Path, pages: int, most: int, *, held: bool = False, apart: bool = False, redis: bool = False,
    servers_too: bool = False,
) -> Iterator[tuple[int, Measured]]:  # fmt: skip
    """One worker, two, and so on to `most`, on the same pages; as each is measured.

    `held`: each worker to a processor of its own. ValueError if there are fewer processors than workers then.
    `apart`: each worker in a folder of its own. `redis`: the frontier on a server, not in a file. `servers_too`: those
    have no other processors than the workers.
    """
    if held and most > (os.cpu_count() or 1):
        raise ValueError(f"{most} workers cannot have a processor each: there are {os.cpu_count()}")
    chosen = made(work, pages, most)
    with ExitStack() as running:
        valkey = running.enter_context(redis_server(work / "valkey")) if redis else None
        running.enter_context(
            serve(work / "nginx", packages=chosen.packages, workers=min(most, os.cpu_count() or 1))
        )
        master = (work / "nginx" / "nginx.pid").read_text().strip()
        server = [master, *Path(f"/proc/{master}/task/{master}/children").read_text().split()]
        if valkey is not None:
            server.append(str(valkey.pid))
        for workers in range(1, most + 1):
            if servers_too:
                for pid in server:
                    hold(pid, workers)
            frontier = f"{valkey.url}/{workers}" if valkey is not None else ""
            folder = work / "crawl"
            found = crawl(
                folder, chosen.seeds, workers, chosen.count, server, held=held, apart=apart, frontier=frontier
            )
            yield workers, found


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.processes", description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--most", type=int, default=2)
    parser.add_argument("--one-processor-each", action="store_true", help="hold each worker to one processor")
    shared = parser.add_mutually_exclusive_group()
    shared.add_argument("--apart", action="store_true", help="give each worker a data folder of its own")
    shared.add_argument("--redis", action="store_true", help="keep the frontier on a Valkey server")
    parser.add_argument(
        "--servers-too", action="store_true", help="hold nginx and Valkey to the workers' processors"
    )
    parser.add_argument("--work", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="processes-") as temporary:
        one: Measured | None = None
        folder = options.work or Path(temporary)
        runs = compare(
            folder, options.pages, options.most, held=options.one_processor_each or options.servers_too,
            apart=options.apart, redis=options.redis, servers_too=options.servers_too,
        )  # fmt: skip
        for workers, found in runs:
            one = one or found
            print(
                f"{workers} workers: {found.rate:,.0f} pages/s, {found.rate / one.rate:.2f} times one; CPU s per "
                f"1,000 pages {found.cpu:.3f}, servers {found.server:.3f}; on processors of their own "
                f"{workers * one.cpu / found.cpu:.2f} times one",
                flush=True,
            )


if __name__ == "__main__":
    main()
