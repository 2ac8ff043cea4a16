"""One worker of the shared-pace tests: requests a counting server as the pacer allows, for some seconds.

    python -m tests.fleet.pace_worker LEDGER HOST:PORT SECONDS LIMITS-AS-JSON

Prints one JSON line at the end: requests, trips, statuses, and when (monotonic) how many slots were lost because this
process was not let run in time.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence

from resources.clock import SystemClock
from resources.pacing.base import Observation, Outcome, PaceLimits, Slot
from resources.pacing.ledger.open import open_ledger
from resources.pacing.shared.exchange import Ask
from resources.pacing.shared.open import open_exchange
from resources.pacing.shared.pacer import SharedPacer

DOMAIN = "counted.example"


async def work(ledger: str, address: str, seconds: float, limits: PaceLimits) -> None:
    host, _, port = address.partition(":")
    clock = SystemClock()
    exchange = open_exchange(ledger)
    assert exchange is not None
    pacer = SharedPacer(clock, open_ledger(ledger), exchange)
    lost: list[tuple[float, int]] = []
    send = exchange.send

    def sends(asks: Sequence[Ask]) -> None:
        lost.append((time.monotonic(), sum(ask.lost for ask in asks)))
        send(asks)

    exchange.send = sends  # type: ignore[method-assign]  # to listen in
    loop, wake = asyncio.get_running_loop(), asyncio.Event()
    pacer.when_news(lambda: loop.call_soon_threadsafe(wake.set))
    pacer.admit(DOMAIN, limits)
    pacer.want(DOMAIN, 1_000)
    statuses: Counter[int] = Counter()
    tasks = set()

    async def fetch(slot: Slot) -> None:
        started = clock.now()
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        head = await reader.read()
        writer.close()
        status = int(head.split(b" ")[1])
        after = float(head.partition(b"Retry-After: ")[2].split(b"\r")[0] or 0) or None
        statuses[status] += 1
        now = clock.now()
        pacer.done(
            slot, Observation(now, started, now - started, now - started, status, Outcome.OK, after, 1000)
        )
        pacer.want(DOMAIN, 1_000)
        wake.set()

    end = clock.now() + seconds
    while (now := clock.now()) < end:
        while (slot := pacer.take(now)) is not None:
            task = asyncio.create_task(fetch(slot))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        at = pacer.next_at(now)
        wake.clear()
        try:
            await asyncio.wait_for(wake.wait(), max(0.0, min(at or now + 0.5, now + 0.5, end) - now))
        except TimeoutError:
            pass
    if tasks:
        await asyncio.wait(tasks)
    pacer.want(DOMAIN, 0)
    pacer.checkpoint(clock.now())
    pacer.close()
    said = {"requests": sum(statuses.values()), "trips": exchange.trips, "statuses": statuses, "lost": lost}
    print(json.dumps(said))


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], sys.argv[2], float(sys.argv[3]), PaceLimits(**json.loads(sys.argv[4]))))
