"""What Dagster adds: `fetched_pages` materialized by a run beside the bare engine, CPU seconds per 1,000 pages.

    python -m benchmarks.dagster_run [--pages 12000] [--rounds 3] [--work DIR]
    python -m benchmarks.dagster_run --set docs

Made pages of 10 KB with 50 links on two domains, at two sizes: so what a run costs once (opening the event log, its
plan, checks and metadata of each domain) is told apart from what a page costs. With `--set docs` the real pages, all
in. Each run is a process of its own, the two kinds in alternation. Counted from the first request for a seed to the
last commit, for Dagster with everything its run writes: events, checks, metadata. The starts of the processes are not
counted, nor that Dagster's daemon makes the run and announces what it will do.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measured import measured
from benchmarks.real_docs.server import serve
from benchmarks.throughput.our_crawl import installation
from benchmarks.throughput.page_sets import PageSet, docs, made

__all__ = ["main"]


def _bare(folder: Path, seeds: dict[str, str]) -> float:
    import resources.frontier.sqlite
    import resources.pages.sqlite  # noqa: F401  # as below
    from resources.crawler.order import CrawlOrder
    from resources.crawler.session import CrawlSession

    place = installation(folder, seeds)

    async def night() -> None:
        async with CrawlSession(place, "night") as session:
            await session.seed(tuple(seeds))
            await session.crawl(CrawlOrder(tuple(seeds), "night"))

    import uvloop

    begin = time.process_time()
    uvloop.run(night())
    return time.process_time() - begin


def _materialized(folder: Path, seeds: dict[str, str]) -> float:
    """As a run's process does it: the instance of the project's own `dagster.yaml`, and a run that was made before."""
    place = installation(folder, seeds).prepare()
    os.environ["NIGHTCRAWL_DATA"], os.environ["NIGHTCRAWL_SITES"] = str(place.data), str(place.sites)
    from crawl_assets.definitions import defs  # isort: skip  (first: it silences warnings about beta features)

    import dagster as dg
    from dagster._core.definitions.job_base import InMemoryJob
    from dagster._core.execution.api import execute_run_iterator
    from dagster._core.instance.ref import InstanceRef

    import resources.crawler.session
    import resources.frontier.sqlite
    import resources.pages.sqlite
    import resources.planner.read
    import resources.warehouse.parse  # noqa: F401  # loaded by a run when it works: belongs to its start
    from crawl_assets.automation.start import prepare
    from crawl_assets.commands.instance import dagster_home

    home = dagster_home(place)
    prepare(home, place)
    with dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(home))) as instance:
        whole = defs().resolve_implicit_global_asset_job_def()
        job = whole.get_subset(asset_selection={dg.AssetKey("seed_frontier"), dg.AssetKey("fetched_pages")})
        run = instance.create_run_for_job(
            job,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags={
                "dagster/asset_partition_range_start": min(seeds),
                "dagster/asset_partition_range_end": max(seeds),
            },
        )
        begin = time.process_time()
        for _ in execute_run_iterator(InMemoryJob(job), run, instance):
            pass
        used = time.process_time() - begin
        ended = instance.get_run_by_id(run.run_id)
        assert ended is not None and ended.is_success
    return used


def _stored(folder: Path, seeds: dict[str, str]) -> int:
    store = installation(folder, seeds).open_pages()
    pages = sum(store.counts(domain)[0] for domain in seeds)
    store.close()
    return pages


def main() -> None:
    """Parent: serves and compares. Child (`--child KIND FOLDER SEEDS`): one run."""
    if sys.argv[1:2] == ["--child"]:
        kind, folder, seeds = sys.argv[2], Path(sys.argv[3]), json.loads(sys.argv[4])
        used = (_bare if kind == "bare" else _materialized)(folder, seeds)
        print(json.dumps({"cpu": used, "pages": _stored(folder, seeds)}))
        return
    parser = argparse.ArgumentParser(prog="benchmarks.dagster_run", description=__doc__)
    parser.add_argument("--pages", type=int, default=12_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--set", choices=("made", "docs"), default="made")
    parser.add_argument("--work", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dagster-run-") as temporary:
        work = options.work or Path(temporary)
        if options.set == "docs":
            if (pages := docs(False)) is None:
                raise SystemExit("the documentation packages are not installed")
            costs = _compare(pages, work, options.rounds)
            whole = costs["materialized"] / costs["bare"] - 1
            print(f"Dagster adds {whole:+.1%} to the whole, what a run costs once included")
            return
        few, many = (
            _compare(made(work, n), work, options.rounds) for n in (options.pages // 4, options.pages)
        )
    steps = (options.pages - options.pages // 4) / 1000
    bare, whole = ((many[kind] - few[kind]) / steps for kind in ("bare", "materialized"))
    once = many["materialized"] - many["bare"] - (whole - bare) * options.pages / 1000
    print(
        f"CPU s per 1,000 pages: {bare:.3f} bare, {whole:.3f} materialized: Dagster adds {whole / bare - 1:+.1%}, "
        f"and {once:.2f} s once a run"
    )


def _compare(pages: PageSet, work: Path, rounds: int) -> dict[str, float]:
    """CPU seconds of a whole crawl by kind: the medians of runs in alternation."""
    costs: dict[str, list[float]] = {"bare": [], "materialized": []}
    with serve(work / "nginx", packages=pages.packages):
        for _ in range(rounds):
            for kind, found in costs.items():
                folder = work / kind
                shutil.rmtree(folder, ignore_errors=True)
                command = [sys.executable, "-m", "benchmarks.dagster_run", "--child", kind, str(folder)]
                done = subprocess.run(
                    [*command, json.dumps(pages.seeds)], stdout=subprocess.PIPE, text=True, check=True
                )
                told = json.loads(done.stdout.splitlines()[-1])
                count = measured(told["pages"], kind, pages.count)
                found.append(told["cpu"])
                print(f"{kind}: {count} pages, {found[-1] / count * 1000:.3f} CPU s per 1,000", flush=True)
    return {kind: statistics.median(found) for kind, found in costs.items()}


if __name__ == "__main__":
    main()
