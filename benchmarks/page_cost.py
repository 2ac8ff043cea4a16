"""Where the microseconds of a page go: CPU of each part inside a real crawl of the documentation pages.

    python -m benchmarks.page_cost [--set docs|made] [--write]

The parts are wrapped by a stopwatch on their thread's CPU time (about 1 µs a call, which is in the figures); what is
left of the whole is the loop, the fetcher and the standard library between them. Beside each stands what the part
cannot go below. `--write` puts the table into `docs/performance.md`.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measured import measured
from benchmarks.real_docs.server import serve
from benchmarks.throughput.page_sets import docs, made
from benchmarks.throughput.report import replace_part

__all__ = ["main"]

#: Part → (module, name within it, what it cannot go below). A part within another is taken off that one's figure.
_PARTS: dict[str, tuple[str, str, str]] = {
    "parse (Lexbor)": ("resources.crawler.read_page", "parse_and_tell", "the parser itself: 110 MB/s"),
    "bounding the markup first": ("resources.web.html_document", "cut_of", "5 µs for an ordinary page; large ones are searched"),
    "links: walk, attributes, distinct addresses": ("resources.crawler.read_page", "read_outlinks", "the walk alone is a fifth of it, making attributes into Python's values two fifths"),
    "links of plain pages, from their tags": ("resources.crawler.read_page", "plain_outlinks", "finding where tags end is half of it"),
    "does it show at once that it is no wall?": ("resources.crawler.read_page", "clear", ""),
    "is it a wall?": ("resources.crawler.read_page", "judge_wall", "a tenth where links and paragraphs clear the page; the rest is reading the text of short pages"),
    "suspicious markup, encoding": ("resources.crawler.page_links", "PageReader._task", ""),
    "discoveries for the frontier": ("resources.crawler.outlinks", "Outlinks.discoveries", "a key and a row for each new URL"),
    "guard against traps": ("resources.crawler.traps.guard", "TrapGuard.page", ""),
    "when it is due again": ("resources.crawler.freshness", "due_at", ""),
    "head and log row": ("resources.crawler.digest", "Digester._head", "some 40 values"),
    "compression with the domain's dictionary": ("resources.pages.sqlite.bodies", "Bodies.compress", "zstd level 3 takes half and stores a sixth more; three quarters of it are noting each position once"),
    "training dictionaries": ("resources.pages.sqlite.store", "SqlitePages._train_if_due", "15 ms each, one a domain of up to some 3,000 pages"),
    "the rest of the page store's transaction": ("resources.pages.sqlite.store", "SqlitePages.put", ""),
    "frontier: claims": ("resources.frontier.sqlite.frontier", "SqliteFrontier.claim", ""),
    "frontier: commits with links, acks, log rows": ("resources.frontier.sqlite.frontier", "SqliteFrontier.commit", ""),
}  # fmt: skip
_TRANSPORT = "the transport's own threads (Rust)"
_REST = "loop, fetcher, pacing, what lies between"


class _Stopwatch:
    """Thread CPU seconds by part, each without the parts that ran within it."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._within: dict[int, list[float]] = defaultdict(list)

    def wrapped(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        import threading

        @functools.wraps(function)
        def timed(*positional: Any, **named: Any) -> Any:
            stack = self._within[threading.get_ident()]
            stack.append(0.0)
            begin = time.thread_time()
            try:
                return function(*positional, **named)
            finally:
                took = time.thread_time() - begin
                self.spent[part] += took - stack.pop()
                if stack:
                    stack[-1] += took

        return timed


def _child(folder: str, seeds: dict[str, str]) -> None:
    """One night in this process; prints microseconds a page by part."""
    import importlib

    import uvloop

    from benchmarks.throughput import our_crawl
    from resources.crawler.session import CrawlSession

    watch = _Stopwatch()
    for part, (module, name, _) in _PARTS.items():
        owner: Any = importlib.import_module(module)
        *path, last = name.split(".")
        for step in path:
            owner = getattr(owner, step)
        setattr(owner, last, watch.wrapped(part, getattr(owner, last)))
    native: list[float] = []
    leave = CrawlSession.__aexit__

    async def leaving(session: CrawlSession, *error: Any) -> None:
        native.append(_of_threads("pyreqwest"))
        await leave(session, *error)

    setattr(CrawlSession, "__aexit__", leaving)  # noqa: B010  # the transport's threads end there
    begin = time.process_time()
    uvloop.run(our_crawl.main(Path(folder), 1, seeds))
    whole = time.process_time() - begin
    watch.spent[_TRANSPORT] = sum(native)
    watch.spent[_REST] = whole - sum(watch.spent.values())
    print(json.dumps({"whole": whole, "parts": watch.spent}))


def _of_threads(name: str) -> float:
    """CPU seconds of this process's threads whose name begins so."""
    total = 0.0
    for stat in Path("/proc/self/task").glob("*/stat"):
        head, _, rest = stat.read_text().rpartition(")")
        if head.partition("(")[2].startswith(name):
            total += sum(map(int, rest.split()[11:13])) / 100
    return total


def main() -> None:
    """Parent: serves, runs and shows. Child (`--child FOLDER SEEDS`): one crawl."""
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2], json.loads(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(prog="benchmarks.page_cost", description=__doc__)
    parser.add_argument("--set", choices=("docs", "made"), default="docs")
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="page-cost-") as temporary:
        work = Path(temporary)
        pages = docs(False) if options.set == "docs" else made(work, 4_000)
        if pages is None:
            raise SystemExit("the documentation packages are not installed")
        with serve(work / "nginx", packages=pages.packages):
            command = [sys.executable, "-m", "benchmarks.page_cost", "--child", str(work / "crawl")]
            done = subprocess.run(
                [*command, json.dumps(pages.seeds)], stdout=subprocess.PIPE, text=True, check=True
            )
        night, parts = (json.loads(line) for line in done.stdout.strip().splitlines()[-2:])
    count = measured(night["pages"], "page_cost", pages.count)
    lines = [
        f"{pages.words}: {count:,} pages, {parts['whole'] / count * 1e6:,.0f} µs of CPU a page, stopwatches included",
        "",
        "| part | µs | share | what it cannot go below |",
        "| --- | --- | --- | --- |",
    ]
    for part, spent in sorted(parts["parts"].items(), key=lambda each: -each[1]):
        limit = _PARTS[part][2] if part in _PARTS else ""
        lines.append(f"| {part} | {spent / count * 1e6:.0f} | {spent / parts['whole']:.0%} | {limit} |")
    print("\n".join(lines))
    if options.write:
        replace_part("parts", "\n".join(lines))


if __name__ == "__main__":
    main()
