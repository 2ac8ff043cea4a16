"""The page store on real HTML: how much smaller than the bodies, and what a page costs.

    python -m benchmarks.pages [--place sqlite|files] [--pages N] [--batch N] [FOLDER ...]

A folder of HTML files plays a domain; without any, the documentation packages of this machine do
(python3.11-doc, postgresql-doc-15, python-django-doc, qtbase5-doc-html on Debian). CPU is of the whole
process, and wall time stands beside it only to show waiting. Sizes are of the whole store, indexes and all.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import xxhash

from resources.pages.base import Kind, PageHead, PageStore, PageVersion
from resources.pages.open import open_pages

__all__ = ["main"]

FOLDERS = (
    "/usr/share/doc/python3.11/html",
    "/usr/share/doc/postgresql-doc-15/html",
    "/usr/share/doc/python-django-doc/html",
    "/usr/share/qt5/doc",
)

#: Pages read one by one, in random order.
RANDOM_READS = 1000

T = TypeVar("T")


def load(folders: list[Path], limit: int) -> list[PageVersion]:
    """Up to `limit` pages of each folder in random order, with the headers a file server sends."""
    shuffled = random.Random(1)
    versions = []
    for folder in folders:
        root = folder.resolve()
        paths = sorted(path for path in root.rglob("*.html") if path.is_file())
        shuffled.shuffle(paths)
        domain = f"{folder.parent.name if folder.name == 'html' else folder.name}.example"
        for path in paths[:limit]:
            body = path.read_bytes()
            versions.append(_version(domain, path.relative_to(root).as_posix(), body, shuffled))
    return versions


def _version(domain: str, path: str, body: bytes, chance: random.Random) -> PageVersion:
    url = f"https://{domain}/{path}"
    at = 1.76e9 + chance.random() * 10_000
    headers = (
        ("Server", "nginx/1.22.1"),
        ("Date", f"Sat, 29 Nov 2025 15:{chance.randrange(60):02}:{chance.randrange(60):02} GMT"),
        ("Content-Type", "text/html"),
        ("Content-Length", str(len(body))),
        ("Last-Modified", f"Mon, 13 Oct 2025 10:11:{chance.randrange(60):02} GMT"),
        ("Connection", "keep-alive"),
        ("ETag", f'"{chance.getrandbits(32):x}-{len(body):x}"'),
        ("Accept-Ranges", "bytes"),
    )
    head = PageHead(
        key=xxhash.xxh3_128_digest(url.encode()),
        url=url,
        domain=domain,
        kind=Kind.PAGE,
        status=200,
        headers=headers,
        content_hash=xxhash.xxh3_128_digest(body),
        body_bytes=len(body),
        fetched_at=at,
        validated_at=at,
        first_seen_at=at,
        changed_at=at,
        final_url=url,
        run_id="20251129T150000-1",
        depth=chance.randrange(6),
        requested_at=at - 0.05,
        encoding="utf-8",
        encoding_source="meta",
        verdict="ok",
        verdict_version="1",
    )
    return PageVersion(head, body)


def batches(items: list[T], size: int) -> Iterator[list[T]]:
    for first in range(0, len(items), size):
        yield items[first : first + size]


@dataclass
class Bench:
    """A store under measurement, its bodies, and the folder it fills."""

    pages: PageStore
    versions: list[PageVersion]
    folder: Path
    batch: int

    def timed(self, name: str, work: Callable[[], object], count: int | None = None) -> None:
        count = count or len(self.versions)
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(f"{name:36} {cpu / count * 1e3:8.3f} ms CPU a page {wall / count * 1e3:9.3f} ms wall")

    def size(self, name: str) -> None:
        bodies = sum(len(version.body) for version in self.versions)
        frames = sum(self.pages.counts(domain)[2] for domain in self.pages.domains())
        whole = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        print(f"{name:36} {bodies / whole:8.2f} x smaller, heads apart {bodies / frames:.2f} x")

    def put(self) -> None:
        for some in batches(self.versions, self.batch):
            self.pages.put(some)

    def heads(self) -> None:
        keys = [version.head.key for version in self.versions]
        found = sum(len(self.pages.heads(some)) for some in batches(keys, self.batch))
        assert found == len({*keys})

    def touch(self) -> None:
        heads = [
            replace(version.head, validated_at=version.head.validated_at + 86_400)
            for version in self.versions
        ]
        for some in batches(heads, self.batch):
            self.pages.touch(some)

    def random_reads(self) -> None:
        for version in random.Random(2).choices(self.versions, k=RANDOM_READS):
            assert self.pages.body(version.head) == version.body

    def read(self) -> None:
        assert sum(1 for domain in self.pages.domains() for _ in self.pages.read(domain)) == len(
            self.versions
        )

    def maintain(self, *, dense: bool) -> None:
        for domain in self.pages.domains():
            self.pages.maintain(domain, dense=dense)


def run(place: str, versions: list[PageVersion], batch: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="nightcrawl-bench-"))
    name = f"sqlite:///{folder}/pages.sqlite" if place == "sqlite" else f"files:///{folder}/pages"
    try:
        bench = Bench(open_pages(name), versions, folder, batch)
        bench.timed("put", bench.put)
        # Closing empties the write-ahead log, which is no part of what is kept.
        bench.pages.close()
        bench.pages = open_pages(name)
        bench.size("after put")
        bench.timed("heads", bench.heads)
        bench.timed("random read of a body", bench.random_reads, RANDOM_READS)
        bench.timed("read a domain (re-parse)", bench.read)
        bench.timed("touch (304)", bench.touch)
        bench.timed("put again, unchanged (200)", bench.put)
        for dense in (False, True):
            bench.timed(f"maintain{', dense' if dense else ''}", partial(bench.maintain, dense=dense))
            bench.pages.close()
            bench.pages = open_pages(name)
            bench.size("  after it")
        bench.timed("random read of a body", bench.random_reads, RANDOM_READS)
        bench.timed("read a domain (re-parse)", bench.read)
        bench.pages.close()
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description="The page store on real HTML.")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--place", choices=("sqlite", "files"), default="sqlite")
    parser.add_argument("--pages", type=int, default=10_000, help="at most so many of each folder")
    parser.add_argument("--batch", type=int, default=200)
    arguments = parser.parse_args()
    folders = arguments.folders or [Path(name) for name in FOLDERS if Path(name).is_dir()]
    versions = load(folders, arguments.pages)
    if not versions:
        parser.error("no HTML found: install the Debian packages named in --help, or name folders")
    size = sum(len(version.body) for version in versions)
    print(f"{len(versions)} pages of {len(folders)} domains, {size / len(versions) / 1e3:.1f} KB each")
    run(arguments.place, versions, arguments.batch)


if __name__ == "__main__":
    main()
