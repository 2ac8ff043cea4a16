"""The pages that are crawled: real documentation, and made pages of 10 KB with 50 links."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from benchmarks.real_docs.packages import PACKAGES, DocPackage

__all__ = ["PageSet", "docs", "made"]

#: Made pages: bytes, links a page, and of these how many stand on every page of the site.
PAGE_BYTES, LINKS, NAVIGATION = 10_000, 50, 20
_WORDS = [
    "harbour",
    "lantern",
    "meadow",
    "copper",
    "winter",
    "station",
    "garden",
    "letter",
    "window",
    "morning",
    "river",
    "market",
    "island",
    "bridge",
    "orchard",
    "kettle",
    "saddle",
    "thunder",
    "velvet",
    "marble",
    "sparrow",
    "cellar",
    "compass",
    "anchor",
    "ribbon",
]


@dataclass(frozen=True, slots=True)
class PageSet:
    """`packages`: folders that are served, each on an address of its own. `count`: pages in all, where known."""

    name: str
    words: str
    packages: tuple[DocPackage, ...]
    count: int | None = None

    @property
    def seeds(self) -> dict[str, str]:
        return {package.domain: package.seed for package in self.packages}


def docs(short: bool) -> PageSet | None:
    """The packages of `real_docs`; in short form one of them, about 1,170 pages. None if not installed."""
    packages = tuple(p for p in PACKAGES if not short or p.name.startswith("postgresql"))
    if absent := [p.name for p in packages if not (p.folder / p.front.lstrip("/")).is_file()]:
        print(
            f"not installed, left out: {', '.join(absent)} (python -m benchmarks.real_docs --install, as root)"
        )
        return None
    return PageSet("docs", "real documentation pages", packages)


def made(folder: Path, pages: int, sites: int = 2) -> PageSet:
    """`pages` static pages over `sites` domains, below `folder` (made once)."""
    packages = []
    for number in range(sites):
        root = folder / f"made-{pages}-{number}"
        packages.append(DocPackage(f"made-{number}", root, f"/{_name(0)}", f"127.0.0.{20 + number}"))
        if not (root / "done").exists():
            _make(root, pages // sites, random.Random(number))
    words = f"made pages of {PAGE_BYTES // 1000} KB with {LINKS} links"
    return PageSet("made", words, tuple(packages), pages // sites * sites)


def _name(number: int) -> str:
    """Of three words or more: what a run of numbers is worth is a question for the guard against traps, not for this."""
    words = [_WORDS[number % 25], _WORDS[number // 25 % 25], _WORDS[number // 625 % 25]]
    rest = number // 15_625
    while rest:
        words.append(_WORDS[rest % 25])
        rest //= 25
    return f"{'-'.join(words)}.html"


def _make(root: Path, count: int, rng: random.Random) -> None:
    root.mkdir(parents=True, exist_ok=True)
    navigation = "".join(
        f'<li><a href="{_name(n % count)}">{_WORDS[n % 25]}</a></li>\n' for n in range(NAVIGATION)
    )
    for number in range(count):
        near = [(number * 3 + step) % count for step in range(1, LINKS - NAVIGATION + 1)]
        head = f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Page {number}</title></head>\n<body>'
        parts = [head, f"<nav><ul>\n{navigation}</ul></nav>\n<main><h1>Page {number}</h1>\n"]
        size = sum(map(len, parts))
        for place, link in enumerate(near):
            words = " ".join(rng.choices(_WORDS, k=12))
            parts.append(f'<p>{words} <a href="{_name(link)}">{_WORDS[place % 25]} {link}</a> ')
            size += len(parts[-1])
            room = (PAGE_BYTES - size) // (len(near) - place)
            text = " ".join(rng.choices(_WORDS, k=max(1, room // 8)))
            parts.append(f"{text}</p>\n")
            size += len(parts[-1])
        parts.append("</main></body></html>\n")
        (root / _name(number)).write_text("".join(parts))
    (root / "done").touch()
