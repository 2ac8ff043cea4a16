"""Two worker processes beside one: pages per second of the whole, on domains that are shared out.

    python -m benchmarks.processes [--pages 20000] [--most 2] [--work DIR]

Made pages of 10 KB with 50 links, unlimited pace, as many domains as the most workers; each worker crawls its share
of them from the same data folder. The server needs processors of its own: with two of them in all, nginx and the
other work of the machine are part of what is measured.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measured import measured
from benchmarks.real_docs.server import serve
from benchmarks.throughput.our_crawl import installation
from benchmarks.throughput.page_sets import made


def rate(folder: Path, seeds: dict[str, str], workers: int, expected: int | None) -> float:
    """Pages per second from the first start to the last end, the start of the processes included."""
    shutil.rmtree(folder, ignore_errors=True)
    installation(folder, seeds).prepare()
    pairs = [f"{domain}={seed}" for domain, seed in seeds.items()]
    begin = time.monotonic()
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.throughput.our_crawl", str(folder), "1", *pairs, "--share", f"{number}/{workers}"],
            stdout=subprocess.PIPE, text=True,
        )
        for number in range(workers)
    ]  # fmt: skip
    outputs = [process.communicate()[0] for process in processes]
    seconds = time.monotonic() - begin
    pages = sum(int(json.loads(output.splitlines()[-1])["pages"]) for output in outputs)
    return measured(pages, f"{workers} workers", expected) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.processes", description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--most", type=int, default=2)
    parser.add_argument("--work", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="processes-") as temporary:
        work = options.work or Path(temporary)
        pages = made(work, options.pages, options.most)
        with serve(work / "nginx", packages=pages.packages, workers=options.most):
            one = 0.0
            for workers in range(1, options.most + 1):
                found = rate(work / "crawl", pages.seeds, workers, pages.count)
                one = one or found
                print(f"{workers} workers: {found:,.0f} pages/s, {found / one:.2f} times one", flush=True)


if __name__ == "__main__":
    main()
