"""The site that is crawled: a front page, list pages, and leaves of 5 to 10 KB, all linked, all different.

The same files for every server and every crawler; written once, in well under a second.
"""

from __future__ import annotations

import random
from pathlib import Path

__all__ = ["page_paths", "write_site"]

_PER_LIST = 50
_WORDS = [
    "lamp",
    "harbour",
    "willow",
    "ledger",
    "copper",
    "meadow",
    "signal",
    "drift",
    "anchor",
    "velvet",
    "orchard",
    "thimble",
    "quarry",
    "lantern",
    "saddle",
    "river",
    "market",
    "ribbon",
    "kettle",
    "gravel",
    "bishop",
    "walnut",
    "engine",
    "marble",
]


def page_paths(pages: int) -> list[str]:
    """Paths of all pages; the front page is the first."""
    lists = max(1, (pages - 1) // (_PER_LIST + 1))
    leaves = pages - 1 - lists
    return ["/", *(f"/list/{n}.html" for n in range(lists)), *(f"/page/{n}.html" for n in range(leaves))]


def write_site(folder: Path, pages: int) -> None:
    """Write them below `folder`, the front page as index.html."""
    paths = page_paths(pages)
    lists = [path for path in paths if path.startswith("/list/")]
    leaves = [path for path in paths if path.startswith("/page/")]
    (folder / "list").mkdir(parents=True, exist_ok=True)
    (folder / "page").mkdir(exist_ok=True)
    _write(folder / "index.html", "Front", lists, 3)
    for number, path in enumerate(lists):
        # Leaves left over by the division go to the last list.
        last = None if number == len(lists) - 1 else (number + 1) * _PER_LIST
        _write(folder / path[1:], f"List {number}", leaves[number * _PER_LIST : last], 5)
    for number, path in enumerate(leaves):
        links = ["/", lists[min(number // _PER_LIST, len(lists) - 1)], leaves[(number + 1) % len(leaves)]]
        _write(folder / path[1:], f"Page {number}", links, 22)


def _write(file: Path, title: str, links: list[str], paragraphs: int) -> None:
    rng = random.Random(title)
    text = "\n".join(
        f"<p>{' '.join(rng.choices(_WORDS, k=rng.randrange(30, 70)))}.</p>" for _ in range(paragraphs)
    )
    anchors = "\n".join(f'<li><a href="{link}">{link.strip("/") or "front"}</a></li>' for link in links)
    file.write_text(
        f"<!doctype html>\n<html lang='en'><head><title>{title}</title></head>\n"
        f"<body><h1>{title}</h1>\n{text}\n<ul>\n{anchors}\n</ul></body></html>\n",
        encoding="utf-8",
    )
