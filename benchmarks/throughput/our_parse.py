"""The parse step over what a crawl has stored: pages, links and items into tables, on two processes.

Twice, and the second time counts: starting an interpreter is no part of parsing, here as for the other contestants.

python -m benchmarks.throughput.our_parse FOLDER DOMAIN=SEED…
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks.parse import parse_all
from resources.warehouse.parse import ParserPool

from .family import cpu_of_family
from .our_crawl import installation

PROCESSES = 2


def main(folder: Path, seeds: dict[str, str]) -> None:
    """Parse every stored page."""
    place = installation(folder, seeds)
    with ParserPool(place, place.catalog(), PROCESSES) as pool:
        parse_all(place, seeds, "start", pool)
        begin, start_cpu = time.monotonic(), cpu_of_family()
        reports = parse_all(place, seeds, "bench", pool)
        seconds = time.monotonic() - begin
    pages = sum(report.parsed for report in reports)
    print(json.dumps({"pages": pages, "seconds": seconds, "start_cpu": start_cpu}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:]))
