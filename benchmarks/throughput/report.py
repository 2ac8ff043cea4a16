"""From runs to words: the table in `docs/performance.md`, its plot, and the ratios that CI watches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .page_sets import PageSet
from .runs import Contestant, Run

__all__ = ["ratios", "replace_part", "table", "write"]

Results = Mapping[str, Mapping[Contestant, Sequence[Run]]]
_PAGE = Path("docs/performance.md")
_IMAGES = Path("docs/images")


def ratios(results: Results) -> dict[str, float]:
    """How many times less than the peer, by name; larger is better. The median run of each counts."""
    found: dict[str, float] = {}
    for name, by_contestant in results.items():
        runs = {contestant.name: each[0] for contestant, each in by_contestant.items()}
        ours = runs.get("nightcrawl")
        if ours is None:
            continue
        for peer in ("scrapy", "redis", "crawlee"):
            if peer in runs:
                found[f"{name}: CPU of {peer} / ours"] = runs[peer].per_thousand / ours.per_thousand
        if "bare" in runs:  # below 1: what the crawl around the libraries costs
            found[f"{name}: CPU of the bare loop / ours"] = runs["bare"].per_thousand / ours.per_thousand
        if "scrapy" in runs:
            for own, words in (("again", "ours, nothing changed"), ("parse", "our parse")):
                if own in runs:
                    found[f"{name}: CPU of scrapy / {words}"] = (
                        runs["scrapy"].per_thousand / runs[own].per_thousand
                    )
        for peer, words in (("replay", "replay"), ("rows", "replay into rows")):
            if "parse" in runs and peer in runs:
                found[f"{name}: pages/s of our parse / {words}"] = runs["parse"].rate / runs[peer].rate
        if ours.stored_bytes:
            found[f"{name}: bodies / page store"] = ours.body_bytes / ours.stored_bytes
    return found


def table(sets: Sequence[PageSet], results: Results) -> str:
    """Markdown: one table a page set, then the ratios."""
    lines: list[str] = []
    for pages in sets:
        by_contestant = results[pages.name]
        first = next(iter(by_contestant.values()))[0]
        mean = f", mean {first.body_bytes / first.pages / 1000:.1f} KB" if first.body_bytes else ""
        lines += [
            f"**{pages.words}**: {first.pages:,} pages{mean}, {len(pages.packages)} domains, nginx on loopback, no TLS",
            "",
            "| crawler | CPU s per 1,000 pages | of all runs | pages/s | same pages |",
            "| --- | --- | --- | --- | --- |",
        ]
        whole = first.urls
        for contestant, runs in by_contestant.items():
            every = sorted(each.per_thousand for each in runs)
            spread = f"{every[0]:.2f} to {every[-1]:.2f}"
            same = (
                "(no requests)"
                if contestant.offline
                else "yes"
                if runs[0].urls == whole
                else _difference(runs[0], whole)
            )
            lines.append(
                f"| {contestant.words} | {runs[0].per_thousand:.2f} | {spread} | {runs[0].rate:,.0f} | {same} |"
            )
        lines.append("")
    lines += ["| ratio | |", "| --- | --- |"]
    lines += [
        f"| {name} | {value:.1f} |" if value >= 1 else f"| {name} | {value:.2f} |"
        for name, value in ratios(results).items()
    ]
    return "\n".join(lines)


def _difference(got: Run, whole: frozenset[str]) -> str:
    return f"{len(whole - got.urls)} missing, {len(got.urls - whole)} others"


def write(sets: Sequence[PageSet], results: Results) -> None:
    """Put table and plot into the documentation."""
    replace_part("throughput", table(sets, results))
    _plot(sets, results)


def replace_part(name: str, text: str) -> None:
    """Replace what stands between the marks of `name` in `docs/performance.md`."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = _PAGE.read_text()
    head, _, rest = page.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        raise SystemExit(f"{_PAGE} has no marks {begin} and {end}")
    _PAGE.write_text(f"{head}{begin}\n{text}\n{end}{tail}")


def _plot(sets: Sequence[PageSet], results: Results) -> None:
    """Bars of CPU seconds per 1,000 pages. Needs matplotlib (extra `bench`)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(sets), figsize=(11, 3.6), layout="constrained", squeeze=False)
    for pages, axes in zip(sets, panels[0], strict=True):
        items = [(c.words, runs[0].per_thousand) for c, runs in results[pages.name].items()]
        names, values = [words for words, _ in reversed(items)], [value for _, value in reversed(items)]
        colours = ["tab:blue" if words.startswith("Nightcrawl") else "tab:gray" for words in names]
        bars = axes.barh(names, values, color=colours)
        axes.bar_label(bars, fmt="%.2f", padding=3, fontsize="small")
        axes.set_title(pages.words, fontsize="medium")
        axes.set_xlabel("CPU seconds per 1,000 pages")
        axes.margins(x=0.15)
    _IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(_IMAGES / "throughput.png", dpi=90)
    plt.close(figure)
