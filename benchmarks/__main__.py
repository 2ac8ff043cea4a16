"""Every benchmark, one after another: `make bench`, or `python -m benchmarks [--short]`.

`--short` is the form for CI (at most three minutes on an idle machine): it fails when a ratio to Scrapy has fallen by
more than a third against `benchmarks/throughput/recorded.json`. The long form takes an hour or two, installs the peers
from PyPI, and rewrites the tables and plots in `docs/performance.md`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

_SHORT = (
    ("benchmarks.throughput", "--short"),
    ("benchmarks.pacer", "--domains", "100", "10000", "--requests", "10000"),
    ("benchmarks.frontier", "--sizes", "10000,100000", "--rounds", "10", "--backend", "sqlite"),
)
_LONG = (
    ("benchmarks.throughput",),
    ("benchmarks.real_docs",),
    ("benchmarks.parse",),
    ("benchmarks.pages",),
    ("benchmarks.page_cost", "--write"),
    ("benchmarks.scaling",),
    ("benchmarks.dagster_run", "--set", "docs"),
    ("benchmarks.memory",),
    ("benchmarks.processes",),
    ("benchmarks.dagster_run",),
    ("benchmarks.domains",),
    ("benchmarks.fetch_cost",),
    ("benchmarks.redis_memory",),
    ("benchmarks.politeness.simulated",),
    ("benchmarks.politeness",),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--short", action="store_true", help="the form for CI")
    options = parser.parse_args()
    failed: list[str] = []
    for module, *words in _SHORT if options.short else _LONG:
        print(f"== {module} {' '.join(words)}", flush=True)
        begin = time.monotonic()
        if subprocess.run([sys.executable, "-m", module, *words], check=False).returncode:
            failed.append(module)
        print(f"   {time.monotonic() - begin:.0f} s\n", flush=True)
    for module in failed:
        print(f"FAILED: {module}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
