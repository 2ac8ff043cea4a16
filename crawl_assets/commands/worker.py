"""`nightcrawl worker`: serve whatever domains have work, without Dagster; any number, on any machine."""

from __future__ import annotations

import asyncio
import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from .exit_codes import ExitCode
from .failures import CommandFailed
from .terminal import count, say

if TYPE_CHECKING:
    from resources.installation import Installation

__all__ = ["worker"]


def worker(
    domain: Annotated[list[str] | None, typer.Option(help="Only this domain; may be repeated.")] = None,
    idle_close: Annotated[
        float | None, typer.Option(min=0.0, help="End after so many seconds without work; else it stays.")
    ] = None,
    seed: Annotated[
        bool | None,
        typer.Option(
            "--seed/--no-seed",
            help="Seed all domains first: seeds, sitemaps, pages that are due; or none at all. Else only new ones.",
        ),
    ] = None,
    domains_at_once: Annotated[int, typer.Option(min=1, help="Most domains at once.")] = 256,
    concurrency: Annotated[
        int, typer.Option(min=1, help="Most requests in flight, all domains together.")
    ] = 64,
    metrics_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Serve Prometheus metrics of this worker there.")
    ] = None,
    metrics_host: Annotated[str, typer.Option(help="Address the metrics are served on.")] = "127.0.0.1",
) -> None:
    """Crawl what is pending, wherever it is, until stopped. SIGTERM: drain, hand everything back, end."""
    from resources.installation import Installation

    installation = Installation.from_environment().prepare()
    known = installation.catalog()
    for name in domain or ():
        if known.for_domain(name) is None:
            raise CommandFailed(f"no site file covers {name}: write one with 'nightcrawl init'")
    at = (metrics_host, metrics_port) if metrics_port is not None else None
    stopped, pages = asyncio.run(
        _work(installation, tuple(domain or ()), idle_close, seed, domains_at_once, concurrency, at)
    )
    say(f"{count(pages)} pages; every lease is handed back")
    if stopped is not None:
        raise typer.Exit(ExitCode.INTERRUPTED if stopped == signal.SIGINT else ExitCode.TERMINATED)


async def _work(
    installation: Installation,
    domains: tuple[str, ...],
    idle_close: float | None,
    seed: bool | None,
    domains_at_once: int,
    concurrency: int,
    metrics_at: tuple[str, int] | None,
) -> tuple[int | None, int]:
    """(the signal that stopped it, pages)."""
    from resources.crawler.liveness import worker_name
    from resources.crawler.roaming import Roamer, RoamingOrder
    from resources.crawler.session import CrawlSession

    name = worker_name()
    stop, stopped = asyncio.Event(), list[int]()
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        stopped.append(number)
        stop.set()
        loop.remove_signal_handler(number)  # a second one ends the process at once
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    order = RoamingOrder(
        f"worker:{name}", domains, idle_close, domains_at_once, concurrency, name, seed_new=seed is not False
    )
    async with CrawlSession(installation, order.run_id) as session:
        with ExitStack() as stack:
            roamer = Roamer(session, order)
            if metrics_at is not None:
                try:
                    from resources.metrics.serve import serving
                    from resources.metrics.worker import WorkerMetrics
                except ImportError as error:
                    raise CommandFailed(
                        f"{error.name} is missing: pip install 'nightcrawl[fleet]'"
                    ) from error

                port = stack.enter_context(serving(metrics_at, WorkerMetrics(roamer)))
                say(f"metrics on http://{metrics_at[0]}:{port}/metrics")
            if seed:
                wanted = domains or tuple(session.territory.catalog.domains())
                for report in await session.seed(wanted):
                    for problem in report.problems:
                        say(f"{report.domain}: {problem}")
            say(f"worker {name} serves {', '.join(domains) or 'every domain with work'}")
            pages = await roamer.run(stop)
    return (stopped[0] if stopped else None), pages
