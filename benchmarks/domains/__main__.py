"""What thousands of domains cost in Dagster: a launch, a first and a quiet night, and each page of the UI.

    python -m benchmarks.domains [--domains 5000] [--work DIR] [--pages-only | --launch-only] [--idle SECONDS]

Real daemon, webserver, run workers and browser over a web of small shops on loopback, each with a site file of its
own. `--work` keeps the house, and `--pages-only` looks at its pages again without another night. Takes half an hour
at 5,000 domains.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import dagster as dg

from benchmarks.domains.nights import Launched, folder_bytes, instance_of, launch, night, shops, write_sites
from benchmarks.domains.pages import look, operator_pages
from benchmarks.domains.processor import cpu_s, idle, webserver
from crawl_assets.automation.schedules import FIRED_TAG
from tests.dagster.browser import chromium, missing
from tests.dagster.operated import Operated, operated

__all__ = ["main"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.domains", description=__doc__)
    parser.add_argument("--domains", type=int, default=5_000)
    parser.add_argument("--work", type=Path, default=None, help="keep the house here, or go on with it")
    parser.add_argument("--pages-only", action="store_true", help="no night: only look at the pages")
    parser.add_argument(
        "--launch-only", action="store_true", help="launch a night and end it when it is under way; no pages"
    )
    parser.add_argument("--nights", type=int, default=2)
    parser.add_argument(
        "--part",
        type=_part,
        default=slice(None),
        help="FIRST:END: nights over these domains only, and no pages",
    )
    parser.add_argument("--page", action="append", help="only the page of this name; may be repeated")
    parser.add_argument(
        "--idle", type=float, default=0.0, help="look at the idle processes for so many seconds"
    )
    options = parser.parse_args()
    with ExitStack() as stack:
        work = options.work or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="domains-")))
        domains = stack.enter_context(shops(options.domains))
        house = stack.enter_context(operated(work))
        begin = time.monotonic()
        write_sites(house.installation, domains)
        house.up()
        print(f"{len(domains):,} site files, instance up in {time.monotonic() - begin:.0f} s", flush=True)
        if options.launch_only:
            told = launch(house, domains)
            print(
                f"{told.runs} runs created after {told.created_s:.0f} s; as many as may crawl at once under way after "
                f"{told.started_s:.0f} s",
                flush=True,
            )
            house.kill()
            return
        if not options.pages_only:
            print("\n| night | runs | launched | all under way | ended | how | event log |", flush=True)
            print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
            for number in range(options.nights):
                print(_row(number + 1, night(house, domains, options.part), house), flush=True)
        if options.part != slice(None):
            return
        _pages(house, domains, options.page)
        if options.idle:  # by now reports are made and caches are filled
            _idle(house, options.idle)


def _part(words: str) -> slice:
    first, _, end = words.partition(":")
    return slice(int(first or 0), int(end) if end else None)


def _row(number: int, told: Launched, house: Operated) -> str:
    how = ", ".join(f"{n} {status}" for status, n in sorted(told.statuses.items()))
    size = folder_bytes(house.installation.data / "dagster" / "history") / 1e6
    return (
        f"| {number} | {told.runs} | {told.created_s:.0f} s | {told.started_s:.0f} s | {told.ended_s:.0f} s "
        f"| {how} | {size:.0f} MB |"
    )


def _idle(house: Operated, seconds: float) -> None:
    assert house.process is not None
    found = idle(house.process.pid, seconds)
    print(f"\nidle for {seconds:g} s\n\n| process | of a core | memory |\n| --- | --- | --- |", flush=True)
    for one in found.processes:
        print(f"| {one.name} | {one.core:.1%} | {one.bytes / 1e6:.0f} MB |", flush=True)
    print(f"| together | {found.core:.1%} | {found.bytes / 1e6:.0f} MB |", flush=True)


def _pages(house: Operated, domains: list[str], names: list[str] | None) -> None:
    if missing():
        print(missing())
        return
    with instance_of(house) as instance:
        newest = next(
            r for r in instance.get_runs(dg.RunsFilter(job_name="night"), limit=50) if FIRED_TAG in r.tags
        )
    assert house.process is not None
    server = webserver(house.process.pid)
    print(
        "\n| page | visits, the first after a write | slowest query | webserver's CPU |\n| --- | --- | --- | --- |",
        flush=True,
    )
    with instance_of(house) as instance, chromium() as browser:
        browser.size(1500, 940)
        wrote = dg.AssetObservation("the_web", description="somebody measures how soon pages are shown")
        pages = [p for p in operator_pages(domains, newest.run_id) if names is None or p.name in names]
        for seen in look(
            browser,
            f"http://127.0.0.1:{house.port}",
            pages,
            lambda: cpu_s(server),
            lambda: instance.report_runless_asset_event(wrote),
        ):
            visits = " / ".join(f"{s:.1f}" for s in seen.seconds)
            print(
                f"| {seen.page.name} | {visits} s | {seen.slowest} {seen.slowest_s:.2f} s | {seen.cpu_s:.1f} s |",
                flush=True,
            )


if __name__ == "__main__":
    main()
