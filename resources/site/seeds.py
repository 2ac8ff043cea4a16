"""Seeds: URLs, numbered ranges and files of URLs, expanded lazily.

https://shop.example/list?page={1..500}        500 URLs
https://shop.example/{2020..2026}/{01..12}     every combination, leading zeros kept
{1..1000..50}                                  with a step
@urls.txt                                      one URL a line beside the site file; # starts a comment
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from resources.web.urls import parse

__all__ = ["SeedError", "expand", "expand_seeds"]

_RANGE = re.compile(r"\{(\d+)\.\.(\d+)(?:\.\.(\d+))?\}")
#: More URLs than this from one range is a typing mistake more often than a wish.
MAX_RANGE = 1_000_000


class SeedError(ValueError):
    """A seed that cannot be used; `index` is its place in the list."""

    def __init__(self, message: str, index: int = 0) -> None:
        super().__init__(message)
        self.index = index


def _numbers(match: re.Match[str]) -> list[str]:
    first, last, step = match.group(1), match.group(2), int(match.group(3) or 1)
    low, high = int(first), int(last)
    if step == 0:
        raise SeedError(f"range {match.group(0)}: the step must not be 0")
    if abs(high - low) // step >= MAX_RANGE:
        raise SeedError(f"range {match.group(0)} makes more than {MAX_RANGE:,} URLs")
    width = len(first) if first.startswith("0") and len(first) > 1 else 0
    values = range(low, high + 1, step) if low <= high else range(low, high - 1, -step)
    return [str(n).zfill(width) for n in values]


def expand(seed: str) -> Iterator[str]:
    """The URLs of one seed text (not of a file)."""
    pieces, lists, end, total = [], [], 0, 1
    for match in _RANGE.finditer(seed):
        pieces.append(seed[end : match.start()])
        lists.append(_numbers(match))
        total *= len(lists[-1])
        end = match.end()
    if total > MAX_RANGE:
        raise SeedError(f"{seed!r} makes {total:,} URLs; at most {MAX_RANGE:,} from one seed")
    tail = seed[end:]
    for choice in itertools.product(*lists):
        yield "".join(a + b for a, b in zip(pieces, choice, strict=True)) + tail


def _check(url: str, where: str) -> str:
    if parse(url) is None or not url.lower().startswith(("http://", "https://")):
        raise SeedError(f"{where}{url!r} is no http(s) URL; write it whole, as in 'https://shop.example/'")
    return url


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                text = line.split(" #")[0].strip()
                if text and not text.startswith("#"):
                    yield number, text
    except (OSError, UnicodeDecodeError) as error:
        raise SeedError(f"file of URLs {str(path)!r} cannot be read: {error}") from None


def expand_seeds(seeds: Sequence[str], folder: Path | None, *, check_only: bool = False) -> list[str]:
    """All seed URLs in order, without repeats. `check_only` looks at each seed but keeps nothing.

    Files must lie in `folder` or below it: a site file cannot read the rest of the disk.
    """
    found: dict[str, None] = {}
    for index, seed in enumerate(seeds):
        try:
            if seed.startswith("@"):
                if folder is None:
                    raise SeedError("files of URLs need a site file to lie beside")
                path = (folder / seed[1:]).resolve()
                if not path.is_relative_to(folder.resolve()):
                    raise SeedError(f"file of URLs {seed[1:]!r} is outside the folder of the site file")
                for number, text in _lines(path):
                    for url in expand(text):
                        _check(url, f"{path.name}:{number}: ")
                        if not check_only:
                            found[url] = None
            else:
                urls = expand(seed)
                for url in itertools.islice(urls, 1) if check_only else urls:
                    found[_check(url, "")] = None
        except SeedError as error:
            raise SeedError(str(error), index) from None
    return [] if check_only else list(found)
