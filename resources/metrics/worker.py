"""Metrics of one crawling process: what it fetched, with what outcome, and what it does now.

Read from the running crawl when asked; a scrape costs O(open domains) and nothing in between. Totals outlive the
single crawls of a worker. Domains are no label here: ten thousand of them would be ten thousand series; the
installation's endpoint has those that matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from resources.crawler.roaming import Roamer

__all__ = ["WorkerMetrics"]

_OUTCOMES = (
    "ok", "not_modified", "redirects", "retries", "failed", "excluded", "walls", "truncated",
)  # fmt: skip
_TROUBLES = ("throttled", "forbidden", "server_errors", "timeouts", "connect_errors")


class WorkerMetrics(Collector):
    """Collects from a `Roamer`. Called from the server's thread: it only reads numbers."""

    def __init__(self, roamer: Roamer) -> None:
        self._roamer = roamer

    def describe(self) -> Iterable[Metric]:
        return ()  # names are known only from `collect`; an empty answer keeps the registry from asking twice

    def collect(self) -> Iterator[Metric]:
        crawl = self._roamer.crawl
        totals = self._roamer.tally.sums(list(crawl.reports.values()) if crawl is not None else ())
        lanes = list(crawl.lanes.values()) if crawl is not None else []
        running = [lane for lane in lanes if not lane.closed]

        yield CounterMetricFamily("nightcrawl_worker_requests", "Requests sent.", totals["requests"])
        outcomes = CounterMetricFamily(
            "nightcrawl_worker_outcomes", "What became of URLs.", labels=["outcome"]
        )
        for name in _OUTCOMES:
            outcomes.add_metric([name], totals[name])
        yield outcomes
        troubles = CounterMetricFamily(
            "nightcrawl_worker_troubles", "Answers that are a warning.", labels=["kind"]
        )
        for name in _TROUBLES:
            troubles.add_metric([name], totals[name])
        yield troubles
        statuses = CounterMetricFamily(
            "nightcrawl_worker_responses", "Responses by status.", labels=["status"]
        )
        for name, number in sorted(totals.items()):
            if name.startswith("status "):
                statuses.add_metric([name.removeprefix("status ")], number)
        yield statuses
        yield CounterMetricFamily(
            "nightcrawl_worker_new_urls", "URLs met for the first time.", totals["new_urls"]
        )
        yield CounterMetricFamily("nightcrawl_worker_wire_bytes", "Bytes received.", totals["wire_bytes"])
        yield CounterMetricFamily(
            "nightcrawl_worker_body_bytes", "Bytes of bodies, decoded.", totals["body_bytes"]
        )
        yield CounterMetricFamily(
            "nightcrawl_worker_first_byte_seconds",
            "Sum of waits for the first byte.",
            totals["ttfb_ms"] / 1000,
        )
        yield GaugeMetricFamily("nightcrawl_worker_domains", "Domains this worker works on.", len(running))
        in_flight = sum(lane.in_flight for lane in running)
        yield GaugeMetricFamily("nightcrawl_worker_in_flight", "Requests on their way.", in_flight)
        held = sum(len(lane.buffer) + len(lane.held) + lane.unflushed for lane in running)
        yield GaugeMetricFamily(
            "nightcrawl_worker_claimed", "URLs claimed and not yet written.", held + in_flight
        )
        trouble = crawl is not None and bool(crawl.writer.trouble)
        yield GaugeMetricFamily(
            "nightcrawl_worker_storage_trouble", "1 while results cannot be written.", float(trouble)
        )
