"""Seeds: URLs, numbered ranges and files of URLs, expanded lazily.

https://shop.example/list?page={1..500}        500 URLs
https://shop.example/{2020..2026}/{01..12}     every combination, leading zeros kept
{1..1000..50}                                  with a step
@urls.txt                                      one URL a line beside the site file; # starts a comment
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from resources.web.urls import domain_of, parse, redact

__all__ = ["SeedError", "expand", "expand_seeds", "seed_domains", "seed_problems"]

_RANGE = re.compile(r"\{(\d+)\.\.(\d+)(?:\.\.(\d+))?\}")
_SCHEME_AND_HOST = re.compile(r"https?://[^/?#]*", re.IGNORECASE)
#: More URLs than this from one range is a typing mistake more often than a wish.
MAX_RANGE = 1_000_000
#: Enough to see what is wrong with a file of URLs.
MAX_PROBLEMS = 10


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
    if domain_of(url) is None or not url.lower().startswith(("http://", "https://")):
        raise SeedError(
            f"{where}{redact(url)!r} is no http(s) URL: write it whole, as in 'https://shop.example/'"
        )
    return url


def _file(seed: str, folder: Path | None) -> Path:
    """The file an `@name` seed means. It must lie in `folder`: a site file cannot read the rest of the disk."""
    if folder is None:
        raise SeedError(f"{seed!r}: files of URLs need a site file to lie beside")
    path = (folder / seed[1:]).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise SeedError(f"file of URLs {seed[1:]!r} is outside the folder of the site file: move it there")
    return path


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                text = line.split(" #")[0].strip()
                if text and not text.startswith("#"):
                    yield number, text
    except OSError as error:
        raise SeedError(f"file of URLs {path.name!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SeedError(f"file of URLs {path.name!r} is not UTF-8: {error.reason}") from None


def expand_seeds(seeds: Sequence[str], folder: Path | None) -> list[str]:
    """All seed URLs in order, without repeats. SeedError on the first that cannot be used."""
    found: dict[str, None] = {}
    for index, seed in enumerate(seeds):
        try:
            if seed.startswith("@"):
                path = _file(seed, folder)
                for number, text in _lines(path):
                    for url in expand(text):
                        found[_check(url, f"{path.name}:{number}: ")] = None
            else:
                for url in expand(seed):
                    found[_check(url, "")] = None
        except SeedError as error:
            raise SeedError(str(error), index) from None
    return list(found)


def seed_domains(seeds: Sequence[str], folder: Path | None) -> list[str]:
    """`host[:port]` of every seed, sorted. Ranges in paths are not expanded: the host alone is looked at.

    Seeds that cannot be used are left out: `seed_problems` names them.
    """
    texts: dict[str, None] = {}
    for seed in seeds:
        try:
            lines = [t for _, t in _lines(_file(seed, folder))] if seed.startswith("@") else [seed]
            for line in lines:
                if (start := _SCHEME_AND_HOST.match(line)) is not None and start[0] not in texts:
                    texts |= dict.fromkeys([start[0], *expand(start[0])])
        except SeedError:
            continue
    return sorted({found.domain for text in texts if "{" not in text and (found := parse(text)) is not None})


def seed_problems(
    seeds: Sequence[str], folder: Path | None, covers: Callable[[str], bool]
) -> list[tuple[int, str]]:
    """(place in the list, what is wrong) of every seed; at most `MAX_PROBLEMS` for one file of URLs.

    `covers` says whether a domain belongs to the site: a seed elsewhere would never be fetched. Of a range
    only its ends are looked at: the numbers between cannot make another host of it.
    """
    found: list[tuple[int, str]] = []
    for index, seed in enumerate(seeds):
        try:
            texts = [("", seed)]
            if seed.startswith("@"):
                path = _file(seed, folder)
                texts = [(f"{path.name}:{number}: ", text) for number, text in _lines(path)]
        except SeedError as error:
            found.append((index, str(error)))
            continue
        wrong = [problem for where, text in texts if (problem := _problem(where, text, covers))]
        found += [(index, problem) for problem in wrong[:MAX_PROBLEMS]]
        if len(wrong) > MAX_PROBLEMS:
            found.append((index, f"{len(wrong) - MAX_PROBLEMS:,} more lines cannot be used"))
    return found


def _problem(where: str, text: str, covers: Callable[[str], bool]) -> str:
    try:
        url = _check(next(expand(text)), where)
    except SeedError as error:
        return str(error)
    domain = domain_of(url)
    if domain is not None and not covers(domain):
        return f"{where}{redact(url)!r} is on {domain}, which is not among 'domains': add it or remove this"
    return ""
