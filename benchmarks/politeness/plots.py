"""One picture a server: requests, goodput and refusals over time, each crawler in a panel of its own.

python -m benchmarks.politeness.plots WORK DIR [--pages N]
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path

from .cases import CASES, Case
from .crawlers import CRAWLERS
from .night import Night, read_night
from .site_pages import page_paths

__all__ = ["plot_all"]

_STEPS = 80


def plot_all(work: Path, folder: Path, paths: Collection[str]) -> None:
    """A picture for every server of which `work` holds logs. Needs matplotlib."""
    for case in CASES:
        nights = {}
        for crawler in CRAWLERS:
            place = work / f"{case.name}-{crawler.name}"
            mark = place / "first-night"
            if mark.exists():
                begun, ended = (float(word) for word in mark.read_text().split())
                nights[crawler.words] = read_night(place / "access.log", paths, begun, ended)
        if nights:
            _plot_case(case, nights, folder)


def _plot_case(case: Case, nights: dict[str, Night], folder: Path) -> Path:
    """Write `folder/politeness-<case>.png`. Needs matplotlib; raises ImportError without it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(
        len(nights), 1, figsize=(8, 2.1 * len(nights)), layout="constrained", squeeze=False
    )
    for (name, night), axes in zip(nights.items(), panels[:, 0], strict=True):
        length = max(1.0, night.seconds)
        width = max(0.5, length / _STEPS)
        highest = 0.0
        asked = sorted([*night.good, *night.bad])
        for instants, label, colour in (
            (asked, "requests", "tab:orange"),
            (night.good, "pages", "tab:blue"),
            (night.bad, f"429 and 503: {night.refused}", "tab:red"),
        ):
            counts = [0] * (int(length / width) + 1)
            for instant in instants:
                counts[min(len(counts) - 1, int((instant - night.start) / width))] += 1
            highest = max(highest, max(counts) / width)
            edges = [width * step for step in range(len(counts))]
            axes.step(
                edges, [n / width for n in counts], where="post", label=label, color=colour, linewidth=1.1
            )
        axes.axhline(case.permitted, label="permitted", color="tab:green", linestyle="--", linewidth=1)
        top = case.permitted * 2
        if highest > top:
            # Even up to twice what is permitted, by powers of ten above: hundreds a second must be seen too.
            axes.set_yscale("symlog", linthresh=top)
            top = highest * 1.5
        axes.set(ylabel="per second", ylim=(0, top), xlim=(0, length))
        axes.set_title(f"{name}: {night.lost} pages lost", fontsize="medium", loc="left")
        axes.legend(loc="lower right", fontsize="x-small", ncols=4)
    panels[-1, 0].set_xlabel("seconds")
    figure.suptitle(case.words)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"politeness-{case.name}.png"
    figure.savefig(file, dpi=90)
    plt.close(figure)
    return file


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=2000)
    given = parser.parse_args()
    plot_all(given.work, given.folder, page_paths(given.pages))
