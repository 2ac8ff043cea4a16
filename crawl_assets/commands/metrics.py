"""`nightcrawl metrics`: frontier, workers and ledger for Prometheus: one endpoint an installation."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Annotated

import typer

from .failures import CommandFailed
from .terminal import say

__all__ = ["metrics"]


def metrics(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 9464,
    host: Annotated[str, typer.Option(help="Address to serve on.")] = "127.0.0.1",
    domains: Annotated[int, typer.Option(min=0, help="Domains with series of their own.")] = 50,
    once: Annotated[
        bool, typer.Option("--once", help="Print the metrics once instead of serving them.")
    ] = False,
) -> None:
    """Serve Prometheus metrics of the installation on /metrics until stopped."""
    try:
        from resources.metrics.installation import InstallationMetrics
        from resources.metrics.serve import serving
    except ImportError as error:
        raise CommandFailed(f"{error.name} is not installed: pip install 'nightcrawl[fleet]'") from error
    from resources.installation import Installation

    collector = InstallationMetrics(Installation.from_environment().prepare(), domains)
    if once:
        from prometheus_client import CollectorRegistry, generate_latest

        registry = CollectorRegistry()
        registry.register(collector)
        sys.stdout.write(generate_latest(registry).decode())
        return
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    try:
        with serving((host, port), collector) as taken:
            say(f"metrics on http://{host}:{taken}/metrics")
            sys.stdout.flush()
            over.wait()
    except OSError as error:
        raise CommandFailed(f"{host}:{port} cannot be served on: {error}; choose another --port") from error
