"""One picture a server: rate asked, goodput and refusals over time, each crawler in a panel of its own."""

from __future__ import annotations

from pathlib import Path

from .cases import Case
from .night import Night

__all__ = ["plot_case"]

_STEPS = 80


def plot_case(case: Case, nights: dict[str, Night], folder: Path) -> Path:
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
        asked = sorted([*night.good, *night.bad])
        for instants, label, colour in (
            (asked, "requests", "tab:orange"),
            (night.good, "pages", "tab:blue"),
            (night.bad, f"429 and 503: {night.refused}", "tab:red"),
        ):
            counts = [0] * (int(length / width) + 1)
            for instant in instants:
                counts[min(len(counts) - 1, int((instant - night.start) / width))] += 1
            edges = [width * step for step in range(len(counts))]
            axes.step(
                edges, [n / width for n in counts], where="post", label=label, color=colour, linewidth=1.1
            )
        axes.axhline(case.permitted, label="permitted", color="tab:green", linestyle="--", linewidth=1)
        axes.set(ylabel="per second", ylim=(0, case.permitted * 2), xlim=(0, length))
        axes.set_title(f"{name}: {night.lost} pages lost", fontsize="medium", loc="left")
        axes.legend(loc="upper right", fontsize="x-small", ncols=4)
    panels[-1, 0].set_xlabel("seconds")
    figure.suptitle(case.words)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"politeness-{case.name}.png"
    figure.savefig(file, dpi=90)
    plt.close(figure)
    return file
