"""An endpoint for Prometheus: `/metrics` of the collectors given, on a thread of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.registry import Collector

__all__ = ["serving"]


@contextmanager
def serving(address: tuple[str, int], *collectors: Collector) -> Iterator[int]:
    """Serve while the block runs; the port that was taken (0 takes a free one). OSError when it is in use."""
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    server, thread = start_http_server(address[1], address[0], registry)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
