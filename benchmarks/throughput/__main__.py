"""Run the comparison, print and write the table; exit code 1 when a ratio has fallen.

python -m benchmarks.throughput [--short] [--rounds N] [--only NAME…] [--work DIR] [--record] [--made-pages N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from .page_sets import PageSet, docs, made
from .report import ratios, table, write
from .runs import CONTESTANTS, Contestant, Run, run

_RECORDED = Path(__file__).parent / "recorded.json"
#: In the short form: what a ratio needs, and no more.
_SHORT = ("nightcrawl", "again", "parse", "scrapy")
#: A ratio below this share of the recorded one is a regression: machines differ by less.
_FALLEN = 2 / 3
_TIMEOUT_S = 1800.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.throughput", description=__doc__)
    parser.add_argument("--short", action="store_true", help="one documentation package, Scrapy only (CI)")
    parser.add_argument(
        "--rounds", type=int, default=None, help="runs of each, in alternation; the median counts"
    )
    parser.add_argument("--only", nargs="*", help="contestants by name")
    parser.add_argument("--sets", nargs="*", default=None, help="docs, made")
    parser.add_argument("--made-pages", type=int, default=None)
    parser.add_argument("--work", type=Path, default=None)
    parser.add_argument("--record", action="store_true", help="keep these ratios as the ones to compare with")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.short else 3)
    wanted = options.only or (_SHORT if options.short else [c.name for c in CONTESTANTS])
    contestants = [c for c in CONTESTANTS if c.name in wanted]
    for contestant in contestants:
        contestant.install()
    with tempfile.TemporaryDirectory(prefix="throughput-") as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        chosen = options.sets or ["docs", "made"]
        sets: list[PageSet] = []
        if "docs" in chosen and (real := docs(options.short)) is not None:
            sets.append(real)
        if "made" in chosen:
            sets.append(made(work, options.made_pages or (1_500 if options.short else 10_000)))
        results = {pages.name: _compare(pages, contestants, rounds, work) for pages in sets}
        found = ratios(results)
        form = "short" if options.short else "full"
        recorded = json.loads(_RECORDED.read_text()) if _RECORDED.exists() else {}
        known: dict[str, float] = recorded.get(form, {})
        if fallen := _fallen(found, known):
            # What else runs on the machine falls on one contestant more than on another; a regression falls twice.
            again = [pages for pages in sets if any(name.startswith(f"{pages.name}:") for name in fallen)]
            print(f"measured once more, for {', '.join(fallen)} fell", flush=True)
            second = {pages.name: _compare(pages, contestants, rounds, work) for pages in again}
            for name, value in ratios(second).items():
                found[name] = max(value, found[name])
            fallen = _fallen(found, known)
    print(table(sets, results))
    for name in fallen:
        print(f"FALLEN: {name} is {found[name]:.1f}; recorded {known[name]:.1f}")
    if options.record:
        recorded[form] = known | {name: round(value, 2) for name, value in found.items()}
        _RECORDED.write_text(json.dumps(recorded, indent=2, sort_keys=True) + "\n")
    if not options.short and not options.only:
        write(sets, results)
    return 1 if fallen else 0


def _fallen(found: dict[str, float], known: dict[str, float]) -> list[str]:
    """Names of the ratios that are below what may be."""
    return [name for name, value in found.items() if value < _FALLEN * known.get(name, 0.0)]


def _compare(
    pages: PageSet, contestants: list[Contestant], rounds: int, work: Path
) -> dict[Contestant, list[Run]]:
    """Each contestant `rounds` times, in alternation. All must have got the same pages."""
    results: dict[Contestant, list[Run]] = {contestant: [] for contestant in contestants}
    whole: frozenset[str] | None = None
    for number in range(rounds):
        for contestant in contestants:
            got = run(contestant, pages, work, _TIMEOUT_S)
            results[contestant].append(got)
            note = ""
            if not contestant.offline:
                whole = whole or got.urls
                if got.urls != whole:
                    note = f", NOT THE SAME: {len(whole - got.urls)} missing, {len(got.urls - whole)} others"
            print(
                f"{pages.name} round {number + 1}: {contestant.words}: {got.pages} pages, {got.rate:.0f}/s, "
                f"{got.per_thousand:.2f} CPU s per 1,000 (start {got.start_cpu:.1f} s){note}",
                flush=True,
            )
    for runs in results.values():
        runs.sort(key=lambda each: each.per_thousand)
        middle = statistics.median_low(each.per_thousand for each in runs)
        runs.sort(key=lambda each: each.per_thousand != middle)  # the median first
    return results


if __name__ == "__main__":
    sys.exit(main())
