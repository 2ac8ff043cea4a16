"""What the site really saw: every request in order of arrival, in memory and, by option, as JSONL.

About 400 bytes of memory and 1 µs a request. Counting is done when asked, never on the way.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

from practice_site.resource import TRAP_KINDS
from practice_site.shop import identity

__all__ = ["RequestLog", "SeenRequest", "gap_statistics"]

# Lines held back before the file is written; a killed server loses at most these.
FLUSH_EVERY = 256


class SeenRequest(NamedTuple):
    """One request and the answer decided for it."""

    number: int
    """Counted from 1 since the last reset."""
    at: float
    """Monotonic seconds when the whole request had arrived."""
    epoch: float
    client: str
    connection: int
    method: str
    path: str
    """Path and query, as sent."""
    kind: str
    """What the URL is: product, list, robots, calendar … (`resource.Kind`)."""
    status: int
    """0 if no answer was sent (reset or left hanging)."""
    outcome: str
    """ok, not_modified, limited, banned, walled, overloaded, error, truncated, down."""
    bytes: int
    """Body bytes sent, as coded on the wire."""
    conditional: bool
    delay: float
    """Seconds the site took its time."""
    user_agent: str
    accept_encoding: str
    night: int


class RequestLog:
    """Append-only until `reset`."""

    def __init__(self, site: str = "", file: str = "") -> None:
        self.site = site
        self.entries: list[SeenRequest] = []
        self.in_flight_peak = 0
        self.connections_opened = 0
        self.connections_open = 0
        self.connections_peak = 0
        self._file: IO[str] | None = Path(file).open("a", encoding="utf-8") if file else None  # noqa: SIM115
        self._held = 0

    def append(self, entry: SeenRequest) -> None:
        self.entries.append(entry)
        if self._file is not None:
            self._file.write(json.dumps({"site": self.site, **entry._asdict()}, ensure_ascii=False) + "\n")
            self._held += 1
            if self._held >= FLUSH_EVERY:
                self.flush()

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()
            self._held = 0

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def reset(self) -> None:
        """Forget all requests; open connections stay counted."""
        self.entries.clear()
        self.in_flight_peak = 0
        self.connections_opened = 0
        self.connections_peak = self.connections_open

    def select(
        self,
        *,
        since: int = 0,
        until: int | None = None,
        prefix: str = "",
        status: int | None = None,
        kind: str = "",
        client: str = "",
    ) -> list[SeenRequest]:
        """Requests numbered above `since` (and not above `until`) that match every given part."""
        return [
            entry
            for entry in self.entries[since:until]
            if entry.path.startswith(prefix)
            and (status is None or entry.status == status)
            and (not kind or entry.kind == kind)
            and (not client or entry.client == client)
        ]

    def statistics(self, *, window: float = 1.0, since: int = 0) -> dict[str, Any]:
        """Counts, repeats, waste and gaps of the requests numbered above `since`; JSON-able.

        `repeated`: unconditional requests for something already delivered whole. `trap_requests`: to places
        without end. `wasted`: both, each request once. `window`: seconds of the busiest-window count.
        """
        entries = self.entries[since:]
        delivered: set[str] = set()
        repeated = wasted = 0
        for entry in entries:
            key = identity(entry.path)
            again = key in delivered and not entry.conditional
            repeated += again
            wasted += again or entry.kind in TRAP_KINDS
            if entry.outcome == "ok" and entry.status == 200:
                delivered.add(key)
        return {
            "requests": len(entries),
            "by_status": {str(code): n for code, n in sorted(Counter(e.status for e in entries).items())},
            "by_kind": dict(sorted(Counter(e.kind for e in entries).items())),
            "by_outcome": dict(sorted(Counter(e.outcome for e in entries).items())),
            "by_client": dict(sorted(Counter(e.client for e in entries).items())),
            "user_agents": dict(Counter(e.user_agent for e in entries).most_common()),
            "distinct_paths": len({e.path for e in entries}),
            "delivered": len(delivered),
            "conditional": sum(e.conditional for e in entries),
            "repeated": repeated,
            "trap_requests": sum(e.kind in TRAP_KINDS for e in entries),
            "wasted": wasted,
            "bytes": sum(e.bytes for e in entries),
            "in_flight_peak": self.in_flight_peak,
            "connections_opened": self.connections_opened,
            "connections_peak": self.connections_peak,
            "gaps": gap_statistics([e.at for e in entries], window),
        }


def gap_statistics(times: Sequence[float], window: float = 1.0) -> dict[str, float]:
    """How requests were spaced. `times` in seconds, ascending; empty or single gives zeros.

    `max_in_window`: most arrivals in any half-open interval of `window` seconds. `gap_variation`: standard
    deviation over mean of the gaps; 0 is a metronome, which jitter must avoid.
    """
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    mean = sum(gaps) / len(gaps) if gaps else 0.0
    spread = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5 if gaps else 0.0
    duration = times[-1] - times[0] if times else 0.0
    return {
        "window": window,
        "max_in_window": max_in_window(times, window),
        "duration": duration,
        "rate": (len(times) - 1) / duration if duration else 0.0,
        "gap_min": gaps[0] if gaps else 0.0,
        "gap_p05": gaps[len(gaps) // 20] if gaps else 0.0,
        "gap_median": gaps[len(gaps) // 2] if gaps else 0.0,
        "gap_p95": gaps[len(gaps) * 19 // 20] if gaps else 0.0,
        "gap_max": gaps[-1] if gaps else 0.0,
        "gap_mean": mean,
        "gap_variation": spread / mean if mean else 0.0,
    }


def max_in_window(times: Iterable[float], window: float) -> int:
    """Most of the ascending `times` within any `window` seconds, the end excluded."""
    inside: deque[float] = deque()
    most = 0
    for time in times:
        inside.append(time)
        while inside[0] <= time - window:
            inside.popleft()
        most = max(most, len(inside))
    return most
