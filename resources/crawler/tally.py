"""Sums over all domain reports of a process, of those that are over and those that run: what metrics show.

Sums only grow, also while another thread reads them: a report is counted either as over or as running, never twice.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

from .order import DomainReport

__all__ = ["NUMBERS", "Tally"]

#: Fields of `DomainReport` that are counts.
NUMBERS = (
    "requests", "ok", "not_modified", "redirects", "retries", "failed", "excluded", "walls", "throttled",
    "forbidden", "server_errors", "timeouts", "connect_errors", "truncated", "new_urls", "wire_bytes", "body_bytes",
)  # fmt: skip


class Tally:
    """`Counter` keys: the names of `NUMBERS`, `status 200` …, `ttfb_ms`."""

    def __init__(self) -> None:
        self._over: Counter[str] = Counter()
        self._last: dict[str, DomainReport] = {}  # counted already, by domain
        self._lock = threading.Lock()

    def end(self, report: DomainReport) -> None:
        """The report will not change any more."""
        with self._lock:
            if self._last.get(report.domain) is not report:
                self._last[report.domain] = report
                self._over.update(_numbers(report))

    def sums(self, running: Iterable[DomainReport]) -> Counter[str]:
        """All that is over, and what the running reports have so far."""
        with self._lock:
            sums = Counter(self._over)
            for report in running:
                if self._last.get(report.domain) is not report:
                    sums.update(_numbers(report))
        return sums


def _numbers(report: DomainReport) -> Counter[str]:
    found = Counter({name: getattr(report, name) for name in NUMBERS})
    found["ttfb_ms"] = round(report.ttfb_sum_s * 1000)
    for status, number in list(report.statuses.items()):
        found[f"status {status}"] = number
    return found
