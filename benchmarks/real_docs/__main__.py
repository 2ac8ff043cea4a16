"""Crawl the documentation whole with the real product and compare with the disk: none missing, none twice.

    python -m benchmarks.real_docs [--work DIR] [--gzip] [--nights N] [--install]

Exit code 1 if any page is missing, fetched twice in one night, or not in the set computed from the files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import uvloop
import yaml

from benchmarks.measured import measured
from resources.crawler.order import CrawlOrder, DomainReport
from resources.crawler.session import CrawlSession
from resources.installation import Installation

from . import packages
from .server import request_log, serve
from .truth import Truth, walk

SITE = {
    "name": "docs",
    "domains": [p.domain for p in packages.PACKAGES],
    "seeds": [p.seed for p in packages.PACKAGES],
    "identity": {"user_agent": "nightcrawl-bench/1.0 (+http://bench.example/)"},
    "pace": {"rate": "unlimited", "concurrency": 16},
    "limits": {"max_body": "50 MB"},
    "allow_private_addresses": ["127.0.0.0/8"],
}


def _cpu() -> float:
    """CPU seconds of this process and its finished children."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


async def _night(
    installation: Installation, run_id: str, force: bool
) -> tuple[list[DomainReport], float, float]:
    async with CrawlSession(installation, run_id) as session:
        domains = tuple(SITE["domains"])
        begin, cpu = time.perf_counter(), _cpu()
        await session.seed(
            domains, force=force
        )  # documentation is old: by its own dates it stays fresh for weeks
        reports = await session.crawl(CrawlOrder(domains, run_id))
        return reports, time.perf_counter() - begin, _cpu() - cpu


def _compare(installation: Installation, truths: dict[str, Truth], log: Path, before: int) -> bool:
    store, good = installation.open_pages(), True
    asked = Counter(url for url, _, _ in request_log(log)[before:])
    for domain, truth in truths.items():
        stored = {head.url for head in store.scan(domain)}
        missing, extra = truth.pages - stored, stored - truth.pages
        twice = [
            url
            for url, n in asked.items()
            if n > 1 and f"//{domain}/" in url and not url.endswith("/robots.txt")
        ]
        good &= not (missing or extra or twice)
        print(
            f"{domain:16} {len(truth.pages):6} pages on disk, {len(stored):6} stored, {len(missing)} missing, "
            f"{len(extra)} extra, {len(twice)} asked twice; {len(truth.dead)} dead links"
        )
        for label, urls in (("missing", missing), ("extra", extra), ("twice", twice)):
            for url in sorted(urls)[:5]:
                print(f"    {label}: {url}")
    store.close()
    return good


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.real_docs", description=__doc__)
    parser.add_argument(
        "--work", type=Path, default=None, help="folder to work in (default: a temporary one)"
    )
    parser.add_argument("--gzip", action="store_true", help="let nginx compress")
    parser.add_argument("--nights", type=int, default=2)
    parser.add_argument("--install", action="store_true", help="install missing Debian packages (root)")
    options = parser.parse_args(argv)
    if options.install:
        packages.install()
    if absent := packages.missing():
        print(f"not installed: {', '.join(absent)}; run with --install as root, or apt-get install them")
        return 2
    work = options.work or Path(tempfile.mkdtemp(prefix="real-docs-"))
    shutil.rmtree(work / "data", ignore_errors=True)
    (work / "sites").mkdir(parents=True, exist_ok=True)
    (work / "sites" / "docs.yaml").write_text(yaml.safe_dump(SITE))
    begin = time.perf_counter()
    truths = {p.domain: walk(p) for p in packages.PACKAGES}
    total = sum(len(t.pages) for t in truths.values())
    mean = sum(t.html_bytes for t in truths.values()) / max(1, sum(t.html_pages for t in truths.values()))
    print(
        f"{total} pages on disk, HTML mean {mean / 1000:.1f} kB (walked in {time.perf_counter() - begin:.0f} s)"
    )
    installation = Installation.at(work / "data", work / "sites")
    good = True
    with serve(work / "nginx", gzip=options.gzip) as log:
        for night in range(1, options.nights + 1):
            time.sleep(1.2)  # nginx flushes its log once a second
            before = len(request_log(log))
            reports, seconds, cpu = uvloop.run(_night(installation, f"night-{night}", night > 1))
            requests = sum(r.requests for r in reports)
            measured(sum(r.ok + r.not_modified for r in reports), f"night {night}")
            print(
                f"night {night}: {requests} requests ({sum(r.ok for r in reports)} ok, "
                f"{sum(r.not_modified for r in reports)} unchanged, {sum(r.failed for r in reports)} failed) in "
                f"{seconds:.1f} s, {requests / seconds:.0f}/s, {cpu / requests * 1000:.3f} CPU s per 1,000"
            )
            time.sleep(1.2)
            good &= _compare(installation, truths, log, before)
    store = installation.open_pages()
    sizes = [store.counts(d) for d in truths]
    store.close()
    print(
        f"page store: {sum(s[1] for s in sizes) / max(1, sum(s[2] for s in sizes)):.2f}x smaller than the bodies, "
        "dictionaries included"
    )
    if options.work is None:
        shutil.rmtree(work)
    print("equal to the disk" if good else "DIFFERENT from the disk")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
