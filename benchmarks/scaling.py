"""How costs grow: frontier by URLs, pacing by domains, throughput by processes. Writes `docs/performance.md` and plots.

    python -m benchmarks.scaling [--parts frontier pacing processes] [--urls 10000,100000,1000000,10000000]

Each part runs its benchmark, keeps what it measured in `benchmarks/.scaling.json`, and the tables and plots are made
from all that is kept: one part can be measured again without the others. Needs matplotlib (extra `bench`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.pacer import cost
from benchmarks.processes import compare
from benchmarks.throughput.report import replace_part

__all__ = ["main"]

_KEPT = Path(__file__).parent / ".scaling.json"
_IMAGES = Path("docs/images")
_PARTS = ("frontier", "pacing", "processes")
_DOMAINS = (1, 10, 100, 1_000, 10_000, 100_000)
_OPERATIONS = {"enqueue": "enqueue, a URL", "claim": "claim", "ack": "ack", "page": "page with 75 links"}


def _frontier(urls: str) -> list[dict[str, Any]]:
    """Rows of `benchmarks.frontier`; a process of its own, for resident memory is one of the figures."""
    command = [sys.executable, "-m", "benchmarks.frontier", "--sizes", urls, "--json"]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [json.loads(line) for line in told.splitlines()]


def _pacing() -> list[dict[str, float]]:
    """CPU microseconds a request by the number of domains that are ready."""
    rows = []
    for domains in _DOMAINS:
        requests = 2_000 if domains == 1 else 100_000
        rows.append({"domains": domains, "us": cost(domains, requests)[0]})
    return rows


def _processes(pages: int, most: int) -> list[dict[str, float]]:
    with tempfile.TemporaryDirectory(prefix="scaling-") as work:
        return [
            {"workers": number, "rate": each.rate, "cpu": each.cpu, "server": each.server}
            for number, each in compare(Path(work), pages, most)
        ]


def _tables(kept: dict[str, Any]) -> None:
    if rows := kept.get("frontier"):
        lines = [
            "| URLs | enqueue, µs a URL | claim | ack | page with 75 links | resident | disk |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for row in rows:
            name = f"{row['urls']:,}" if row["backend"] == "sqlite" else f"{row['urls']:,} in memory"
            cells = [f"{row[f'{operation}_cpu_us']:.3g}" for operation in _OPERATIONS]
            lines.append(f"| {name} | {' | '.join(cells)} | {row['rss_mb']} MB | {row['disk_mb']} MB |")
        lines += ["", "![cost of an operation by the size of the frontier](images/frontier-growth.png)"]
        replace_part("frontier", "\n".join(lines))
    if rows := kept.get("pacing"):
        lines = ["| domains ready | µs of CPU a request |", "| --- | --- |"]
        lines += [f"| {row['domains']:,} | {row['us']:.1f} |" for row in rows]
        replace_part("pacing", "\n".join([*lines, "", "![pacing by domains](images/pacing-domains.png)"]))
    if rows := kept.get("processes"):
        one = rows[0]
        lines = [
            "| workers | pages/s | times one | CPU s per 1,000 pages | of nginx | times one on processors of their own |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        lines += [
            f"| {row['workers']} | {row['rate']:,.0f} | {row['rate'] / one['rate']:.2f} | {row['cpu']:.2f} "
            f"| {row['server']:.2f} | {row['workers'] * one['cpu'] / row['cpu']:.2f} |"
            for row in rows
        ]
        replace_part("processes", "\n".join([*lines, "", "![pages by processes](images/processes.png)"]))


def _plots(kept: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    def saved(name: str, title: str, xlabel: str, ylabel: str, lines: dict[str, tuple[list[float], list[float]]], *, log: bool) -> None:  # fmt: skip
        figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
        for label, (x, y) in lines.items():
            axes.plot(x, y, marker="o", label=label)
        if log:
            axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
        axes.grid(alpha=0.3)
        if len(lines) > 1:
            axes.legend(fontsize="small")
        figure.savefig(_IMAGES / name, dpi=90)
        plt.close(figure)

    if rows := kept.get("frontier"):
        own = [row for row in rows if row["backend"] == "sqlite"]
        sizes = [float(row["urls"]) for row in own]
        lines = {
            words: (sizes, [row[f"{name}_cpu_us"] for row in own]) for name, words in _OPERATIONS.items()
        }
        saved(
            "frontier-growth.png", "Frontier on SQLite", "URLs in the frontier", "µs of CPU", lines, log=True
        )
    if rows := kept.get("pacing"):
        points = ([float(row["domains"]) for row in rows], [row["us"] for row in rows])
        saved(
            "pacing-domains.png",
            "Picking and pacing",
            "domains ready",
            "µs of CPU a request",
            {"": points},
            log=True,
        )
    if rows := kept.get("processes"):
        workers = [float(row["workers"]) for row in rows]
        own_processors = [row["workers"] * rows[0]["cpu"] / row["cpu"] for row in rows]
        measured = [row["rate"] / rows[0]["rate"] for row in rows]
        lines = {
            "measured here": (workers, measured),
            "by CPU a page, on processors of their own": (workers, own_processors),
        }
        saved("processes.png", "Workers that share a frontier", "processes", "times one", lines, log=False)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.scaling", description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=_PARTS, default=list(_PARTS))
    parser.add_argument("--urls", default="10000,100000,1000000,10000000")
    parser.add_argument("--pages", type=int, default=20_000, help="pages crawled by each number of processes")
    parser.add_argument("--most", type=int, default=4, help="processes")
    options = parser.parse_args()
    kept: dict[str, Any] = json.loads(_KEPT.read_text()) if _KEPT.exists() else {}
    for part in options.parts:
        print(f"== {part}", flush=True)
        if part == "frontier":
            kept[part] = _frontier(options.urls)
        elif part == "pacing":
            kept[part] = _pacing()
        else:
            kept[part] = _processes(options.pages, options.most)
        print(json.dumps(kept[part], indent=1), flush=True)
        _KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    _tables(kept)
    _plots(kept)


if __name__ == "__main__":
    main()
