"""Metrics of a whole installation: URLs by state, domains, workers, paces. One endpoint for any number of workers.

Read from frontier and ledger when asked, over connections opened for it, so that a server that was away is no
matter. Cost of a scrape: O(domains), never O(URLs). Single domains are shown for the `shown` longest queues, and
for every domain that is paused: series stay bounded, however many domains there are.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from resources.frontier.base import FrontierError, StateCounts, WorkerBeat
from resources.installation import Installation
from resources.pacing.ledger.base import LedgerError, LedgerRow

__all__ = ["InstallationMetrics"]

log = logging.getLogger(__name__)

STATES = ("pending", "leased", "done", "failed", "excluded")
#: Domains with series of their own.
SHOWN = 50


class InstallationMetrics(Collector):
    """`nightcrawl_up` is 0, and nothing else is told, while frontier or ledger cannot be read."""

    def __init__(self, installation: Installation, shown: int = SHOWN) -> None:
        self._installation = installation
        self._shown = shown
        self._lock = threading.Lock()

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("nightcrawl_up", "1 while frontier and ledger can be read.")
        started = time.perf_counter()
        try:
            with self._lock:
                now = time.time()
                counts, beats, rows = self._read(now)
        except (FrontierError, LedgerError) as error:
            log.error("metrics: %s", error)
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        took = time.perf_counter() - started
        yield GaugeMetricFamily("nightcrawl_read_seconds", "How long reading these numbers took.", took)
        yield from _urls(counts)
        yield from _workers(beats, now)
        yield from _paces(rows, now)
        yield from self._domains(counts, rows, now)

    def _read(self, now: float) -> tuple[Mapping[str, StateCounts], list[WorkerBeat], list[LedgerRow]]:
        frontier = self._installation.open_frontier()
        try:
            counts, beats = frontier.all_counts(), frontier.workers(now)
        finally:
            frontier.close()
        ledger = self._installation.open_ledger()
        try:
            return counts, beats, ledger.all()
        finally:
            ledger.close()

    def _domains(
        self, counts: Mapping[str, StateCounts], rows: list[LedgerRow], now: float
    ) -> Iterator[Metric]:
        longest = sorted(counts, key=lambda name: -counts[name].pending)[: self._shown]
        urls = GaugeMetricFamily(
            "nightcrawl_domain_urls",
            "URLs of the domains with the longest queues.",
            labels=["domain", "state"],
        )
        for domain in longest:
            for state in STATES:
                urls.add_metric([domain, state], getattr(counts[domain], state))
        yield urls
        rates = GaugeMetricFamily(
            "nightcrawl_domain_rate", "Requests a second as last learned.", labels=["domain"]
        )
        paused = GaugeMetricFamily(
            "nightcrawl_domain_paused", "Domains that wait for a person.", labels=["domain", "cause"]
        )
        wait = GaugeMetricFamily(
            "nightcrawl_domain_wait_seconds",
            "What a domain is owed before its next request.",
            labels=["domain"],
        )
        wanted = set(longest)
        for row in rows:
            if row.paused_cause:
                paused.add_metric([row.domain, row.paused_cause], 1)
            if row.domain in wanted:
                if row.rate is not None:
                    rates.add_metric([row.domain], row.rate)
                wait.add_metric([row.domain], _owed(row, now))
        yield from (rates, paused, wait)


def _owed(row: LedgerRow, now: float) -> float:
    return max(0.0, max(row.owed_until, row.breaker_until) - now)


def _urls(counts: Mapping[str, StateCounts]) -> Iterator[Metric]:
    urls = GaugeMetricFamily("nightcrawl_urls", "URLs by state, all domains.", labels=["state"])
    for state in STATES:
        urls.add_metric([state], sum(getattr(each, state) for each in counts.values()))
    yield urls
    yield GaugeMetricFamily("nightcrawl_domains", "Domains ever met.", len(counts))
    busy = sum(bool(each.pending) for each in counts.values())
    yield GaugeMetricFamily("nightcrawl_domains_with_work", "Domains with pending URLs.", busy)


def _workers(beats: list[WorkerBeat], now: float) -> Iterator[Metric]:
    working = sum(beat.doing not in ("", "idle") for beat in beats)
    seen = GaugeMetricFamily("nightcrawl_workers", "Workers heard of in the last minute.", labels=["doing"])
    seen.add_metric(["crawling"], working)
    seen.add_metric(["idle"], len(beats) - working)
    yield seen
    runs = sum(not beat.run_id.startswith("worker:") for beat in beats)
    yield GaugeMetricFamily("nightcrawl_runs_crawling", "Dagster runs that crawl, or did a minute ago.", runs)
    silence = max((now - beat.at for beat in beats), default=0.0)
    yield GaugeMetricFamily("nightcrawl_worker_silence_seconds", "Of the worker silent for longest.", silence)


def _paces(rows: list[LedgerRow], now: float) -> Iterator[Metric]:
    paces = GaugeMetricFamily(
        "nightcrawl_paces", "Domains in the ledger by what holds them.", labels=["held"]
    )
    paused = sum(bool(row.paused_cause) for row in rows)
    broken = sum(row.breaker_until > now for row in rows)
    owed = sum(row.owed_until > now for row in rows)
    slowed = sum(row.slow_until > now for row in rows)
    for name, number in (("paused", paused), ("breaker", broken), ("retry_after", owed), ("slowed", slowed)):
        paces.add_metric([name], number)
    yield paces
    yield GaugeMetricFamily("nightcrawl_ledger_domains", "Domains with a pace on record.", len(rows))
