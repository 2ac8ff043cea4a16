"""How many pages a second the parse step turns into staged rows, on real documentation pages.

    python -m benchmarks.parse                  # the Debian documentation that is installed, two processes
    python -m benchmarks.parse --pages 1000     # a sample
    python -m benchmarks.parse --stages         # also what a page costs inside one process, part by part

The pages of python3.11-doc, postgresql-doc-15, python-django-doc, sqlite3-doc and qtbase5-doc-html (those that are
installed) are put into a page store, one domain a package. Then `parse_domains` stages pages, links, structured data
and two fields of an item type of them all, twice: once with the start of the processes, once without. `load_domains`
loads what was staged both times.
Printed: pages a second on the wall clock, CPU milliseconds a page of all processes together, links a page. The store is
made beforehand and not counted.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import yaml
from xxhash import xxh3_128_digest

from benchmarks.measured import measured
from benchmarks.throughput.family import cpu_of_family
from resources.crawler.territory import Territory
from resources.extract.page import PageExtractor
from resources.installation import Installation
from resources.pages.base import Kind, PageHead, PageVersion
from resources.warehouse.load import load_domains
from resources.warehouse.parse import ParseReport, ParserPool, parse_domains
from resources.web.urls import canonical, key

PACKAGES = ("python3.11-doc", "postgresql-doc-15", "python-django-doc", "sqlite3-doc", "qtbase5-doc-html")
PUT_BATCH = 500


def pages_of(package: str) -> list[Path]:
    """Its HTML files; none if it is not installed."""
    found = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False)
    paths = [Path(line) for line in found.stdout.splitlines() if line.endswith((".html", ".htm"))]
    return [path for path in paths if path.is_file()]


def fill(installation: Installation, limit: int | None) -> list[str]:
    """Put the pages into the store; returns the domains."""
    by_domain = {f"{package.replace('.', '-')}.example": pages_of(package) for package in PACKAGES}
    every = [(domain, path) for domain, paths in by_domain.items() for path in paths]
    if limit is not None:
        every = random.Random(7).sample(every, min(limit, len(every)))
    store = installation.open_pages()
    versions: list[PageVersion] = []
    for domain, path in sorted(every):
        body = path.read_bytes()
        url = canonical(f"https://{domain}{path}") or ""
        head = PageHead(
            key(url), url, domain, Kind.PAGE, 200, (("Content-Type", "text/html"),), xxh3_128_digest(body), len(body),
            1e9, 1e9, 1e9, 1e9, url, "bench",
        )  # fmt: skip
        versions.append(PageVersion(head, body))
        if len(versions) >= PUT_BATCH:
            store.put(versions)
            versions.clear()
    store.put(versions)
    store.close()
    return sorted({domain for domain, _ in every})


def parse_all(
    installation: Installation, domains: Iterable[str], run_id: str, pool: ParserPool
) -> list[ParseReport]:
    """Every stored page of the domains, changed or not. Raises what a domain failed of."""
    reports = []
    for _, outcome in parse_domains(installation, domains, run_id=run_id, force=True, pool=pool):
        if isinstance(outcome, Exception):
            raise outcome
        reports.append(outcome)
    return reports


def stages(installation: Installation, domains: list[str]) -> None:
    """Reading and extracting in this process, apart."""
    territory = Territory(installation.catalog())
    store = installation.open_pages()
    read = extract = 0.0
    count = 0
    for domain in domains:
        rules = territory.rules(domain)
        assert rules is not None
        extractor = PageExtractor(rules, territory)
        for head in store.scan(domain):
            start = time.process_time()
            body = store.body(head)
            middle = time.process_time()
            extractor.extract(head, body)
            read += middle - start
            extract += time.process_time() - middle
            count += 1
    store.close()
    print(
        f"one process, CPU a page: read {read / count * 1e6:,.0f} µs, extract {extract / count * 1e6:,.0f} µs"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Pages a second of the parse step.")
    parser.add_argument("--pages", type=int, help="a random sample of so many pages")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--stages", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parse-") as folder:
        installation = Installation.at(Path(folder) / "data", Path(folder) / "sites").prepare()
        installation.sites.mkdir()
        site = {
            "domains": ["*.example"],
            "identity": {"contact": "bench@shop.example"},
            "items": {
                "article": {"fields": {"heading": {"css": "h1"}, "headings": {"css": "h2", "type": "list"}}}
            },
        }
        (installation.sites / "docs.yaml").write_text(yaml.safe_dump(site))
        domains = fill(installation, options.pages)
        if not domains:
            raise SystemExit(f"none of these Debian packages is installed: {', '.join(PACKAGES)}")
        if options.stages:
            stages(installation, domains)
        with ParserPool(installation, installation.catalog(), options.processes) as pool:
            loaded = 0
            for words in ("their start included", "running already"):
                started, cpu_started = time.monotonic(), cpu_of_family()
                reports = parse_all(installation, domains, words, pool)
                wall, used = time.monotonic() - started, cpu_of_family() - cpu_started
                pages = measured(sum(report.parsed for report in reports), "parse")
                loaded += pages
                links = sum(report.rows.get("links", 0) for report in reports)
                size = sum(report.body_bytes for report in reports)
                print(
                    f"parse: {pages:,} pages of {size / pages / 1000:,.0f} KB, {links / pages:,.0f} distinct links a "
                    f"page, {options.processes} processes ({words}): {pages / wall:,.0f} pages/s, "
                    f"{used / pages * 1000:.2f} ms CPU a page",
                    flush=True,
                )
        started, cpu_started = time.monotonic(), cpu_of_family()
        report = load_domains(installation, domains, run_id="bench")
        assert not report.failed, report.failed
        wall, used = time.monotonic() - started, cpu_of_family() - cpu_started
        print(
            f"load: {wall:.2f} s for the {loaded:,} pages of both times, {used / loaded * 1000:.2f} ms CPU a page"
        )


if __name__ == "__main__":
    main()
