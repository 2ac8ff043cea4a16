"""What picking and pacing cost a request, by the number of domains that are ready.

    python -m benchmarks.pacer [--domains 1 100 10000 100000] [--requests 100000]

Virtual time: every domain always has work, requests take 50 ms, and whoever may go next goes. Counted is the CPU of
`take`, `want` and `done` (which learns), by default settings.
"""

from __future__ import annotations

import argparse
import heapq
import random
import time
from pathlib import Path

from resources.clock import VirtualClock
from resources.pacing.base import Observation, Outcome, PaceLimits, Slot
from resources.pacing.ledger.memory import MemoryLedger
from resources.pacing.pacer import Pacer

__all__ = ["cost", "resident_mb"]

_START = 1_700_000_000.0
_TAKES_S = 0.05


def cost(domains: int, requests: int) -> tuple[float, float]:
    """(CPU microseconds a request, resident megabytes)."""
    clock = VirtualClock(_START)
    pacer = Pacer(clock, MemoryLedger(), rng=random.Random(7))
    for number in range(domains):
        name = f"d{number}.example"
        pacer.admit(name, PaceLimits())
        pacer.want(name, 8)
    now = _START
    flying: list[tuple[float, int, Slot]] = []
    begin = time.process_time()
    for number in range(requests):
        while (slot := pacer.take(now)) is None:
            instants = [flying[0][0]] if flying else []
            if (due := pacer.next_at(now)) is not None:
                instants.append(due)
            now = max(now, min(instants))
            clock.tick(now - clock.now())
            while flying and flying[0][0] <= now:
                _land(pacer, *heapq.heappop(flying)[::2])
        pacer.want(slot.domain, 8)
        heapq.heappush(flying, (now + _TAKES_S, number, slot))
    return (time.process_time() - begin) / requests * 1e6, resident_mb()


def _land(pacer: Pacer, at: float, slot: Slot) -> None:
    pacer.done(slot, Observation(at, at - _TAKES_S, 0.04, _TAKES_S, 200, Outcome.OK, None, 30_000, None))


def resident_mb() -> float:
    text = Path("/proc/self/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.pacer", description=__doc__)
    parser.add_argument("--domains", type=int, nargs="+", default=[1, 100, 10_000, 100_000])
    parser.add_argument("--requests", type=int, default=100_000)
    options = parser.parse_args()
    for domains in options.domains:
        requests = min(options.requests, 2_000) if domains == 1 else options.requests
        used, resident = cost(domains, requests)
        print(
            f"{domains:>7,} domains: {used:.1f} us of CPU a request, {resident:,.0f} MB resident", flush=True
        )


if __name__ == "__main__":
    main()
