"""Never banned, measured: the real product and its peers against real limiters, everybody with default settings.

    python -m benchmarks.politeness [--short] [--only CASE…] [--crawlers NAME…] [--pages N] [--plots DIR] [--json FILE]
    python -m benchmarks.politeness.report FILE.json…      the tables of docs/politeness.md
    python -m benchmarks.politeness.plots WORK DIR         the pictures, from the logs that --work has kept

For each server and crawler: pages lost, 429s drawn, goodput against what is permitted (the whole crawl, and from the
first tenth of the pages on), bans; for ours also a second night's first minute. Ends with status 1 when ours misses a
bar. `--short`: three servers, 600 pages, ours alone, in three minutes. Slow servers are crawled by ours at the same
time, each with a process of its own: at 5 and 20 r/s they do not notice each other. Needs nginx; peers are installed from PyPI.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from .cases import CASES, Case
from .crawlers import CRAWLERS, Crawler
from .nginx import limiting_nginx
from .night import Night, read_night
from .own_servers import own_server, peak_goodput
from .plots import plot_all
from .site_pages import page_paths, write_site

__all__ = ["main"]

_SHORT = ("nginx-20-nodelay-told", "nginx-100-nodelay-told", "collapsing")
_SHORT_PAGES = 600
# Nobody is waited for longer than that, peers less: what they have lost by then they do not find again.
_TIMEOUT_S, _PEER_TIMEOUT_S = 1500.0, 600.0
# Servers at most this fast are crawled at the same time by ours.
_TOGETHER = 20.0
# The second night is a minute and a bit of the permitted rate.
_MINUTE_S = 66.0
# nginx writes its log that late.
_LOG_S = 1.0


@dataclass(slots=True)
class Result:
    """One crawler at one server."""

    case: Case
    crawler: Crawler
    first: Night
    second: Night | None
    end: str

    def missed(self, learning_counts: bool) -> list[str]:
        """The bars that ours does not reach. `learning_counts`: the crawl is long enough for the 90 %."""
        permitted, second = self.case.permitted, self.second
        bars = {
            f"{self.first.lost} pages lost": self.first.lost > 0,
            "429s above 1 %": self.first.share > 0.01,
            "whole crawl below 90 %": learning_counts and self.first.whole < 0.90 * permitted,
            "below 95 % once learned": learning_counts and self.first.learned < 0.95 * permitted,
            "banned": self.first.bans > 0,
            "a 429 in the second night's first minute": bool(second and second.first_minute_refused),
        }
        return [name for name, miss in bars.items() if miss]


@contextmanager
def _server(case: Case, root: Path, work: Path, log: Path) -> Iterator[int]:
    if case.kind == "nginx":
        with limiting_nginx(case, root, work, log) as port:
            yield port
    else:
        with own_server(case.kind, root, log) as port:
            yield port


def _measure(case: Case, crawler: Crawler, root: Path, pages: int, folder: Path, nights: int) -> Result:
    """A fresh server, one night, and for ours a second one at the same server."""
    work = folder / f"{case.name}-{crawler.name}"
    work.mkdir(parents=True, exist_ok=True)
    log = work / "access.log"
    paths = page_paths(pages)
    with _server(case, root, work / "server", log) as port:
        if case.kind == "collapsing":
            case = replace(case, permitted=peak_goodput(port))
        begun = time.time()
        patience = _TIMEOUT_S if crawler.ours else _PEER_TIMEOUT_S
        end = crawler.crawl(port, work / "data", "night-1", None, patience)
        time.sleep(_LOG_S)
        first, second = read_night(log, paths, begun), None
        (work / "first-night").write_text(f"{begun:.3f} {time.time():.3f}\n")
        if crawler.ours and nights > 1:
            between = time.time()
            minute = min(pages, int(case.permitted * _MINUTE_S))
            crawler.crawl(port, work / "data", "night-2", minute, _TIMEOUT_S)
            time.sleep(_LOG_S)
            second = read_night(log, paths, between)
    return Result(case, crawler, first, second, end)


def _row(result: Result, learning_counts: bool) -> str:
    night, permitted = result.first, result.case.permitted
    second = "" if result.second is None else str(result.second.first_minute_refused)
    missed = result.missed(learning_counts) if result.crawler.ours else []
    notes = "; ".join(filter(None, [result.end, *(f"MISSED: {bar}" for bar in missed)]))
    return (
        f"{result.case.words:52} {result.crawler.words:20} {night.lost:5} {night.refused:6} {night.share:6.1%}"
        f" {night.whole / permitted:6.1%} {night.learned / permitted:6.1%} {night.bans:4} {second:>5}"
        f" {night.seconds:6.0f}  {notes}"
    )


def _as_json(result: Result) -> dict[str, object]:
    first, second = result.first, result.second
    return {
        "server": result.case.name,
        "words": result.case.words,
        "permitted": result.case.permitted,
        "crawler": result.crawler.words,
        "requests": first.requests,
        "lost": first.lost,
        "refused": first.refused,
        "forbidden": first.forbidden,
        "bans": first.bans,
        "whole": round(first.whole / result.case.permitted, 4),
        "learned": round(first.learned / result.case.permitted, 4),
        "seconds": round(first.seconds, 1),
        "second_night_first_minute": None if second is None else second.first_minute_refused,
        "second_night_rate": None if second is None else round(second.whole / result.case.permitted, 4),
        "end": result.end,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; 0 when ours reaches every bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.politeness", description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", nargs="*", choices=[case.name for case in CASES], metavar="CASE")
    parser.add_argument("--crawlers", nargs="*", choices=[one.name for one in CRAWLERS], metavar="NAME")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--nights", type=int, default=2)
    parser.add_argument("--plots", type=Path, help="write one PNG a server there (needs matplotlib)")
    parser.add_argument("--json", type=Path, help="write the numbers there")
    parser.add_argument("--work", type=Path, help="keep logs and data there")
    given = parser.parse_args(arguments)
    pages = given.pages or (_SHORT_PAGES if given.short else 2000)
    wanted = given.only or (_SHORT if given.short else [case.name for case in CASES])
    names = given.crawlers or (["nightcrawl"] if given.short else [one.name for one in CRAWLERS])
    cases = [case for case in CASES if case.name in wanted]
    crawlers = [one for one in CRAWLERS if one.name in names]
    for crawler in crawlers:
        crawler.install()
    print(
        f"{'server':52} {'crawler':20} {'lost':>5} {'429s':>6} {'share':>6} {'whole':>6} {'learn':>6} {'bans':>4}"
        f" {'2nd':>5} {'secs':>6}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="politeness-") as temporary:
        # Started by root, nginx serves as nobody, who has to be let in.
        Path(temporary).chmod(0o755)
        folder = given.work or Path(temporary)
        root = folder / f"site-{pages}"
        write_site(root, pages)
        results: list[Result] = []
        for result in _all(cases, crawlers, root, pages, folder, given.nights):
            results.append(result)
            print(_row(result, pages >= 2000), flush=True)
    if given.json:
        given.json.write_text(json.dumps([_as_json(one) for one in results], indent=1) + "\n")
        if given.plots:
            plot_all(folder, given.plots, page_paths(pages))
    return 1 if any(one.crawler.ours and one.missed(pages >= 2000) for one in results) else 0


def _all(
    cases: list[Case], crawlers: list[Crawler], root: Path, pages: int, folder: Path, nights: int
) -> Iterator[Result]:
    slow = [case for case in cases if case.permitted <= _TOGETHER]
    with ThreadPoolExecutor(max(1, len(slow))) as threads:
        ours = [one for one in crawlers if one.ours]
        jobs = [
            threads.submit(_measure, case, crawler, root, pages, folder, nights)
            for case in slow
            for crawler in ours
        ]
        for job in jobs:
            yield job.result()
    for case in cases:
        for crawler in crawlers:
            if not (crawler.ours and case in slow):
                yield _measure(case, crawler, root, pages, folder, nights)


if __name__ == "__main__":
    sys.exit(main())
