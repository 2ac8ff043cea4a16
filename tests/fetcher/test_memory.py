"""What endless bodies and bombs cost in memory, measured: the peak of a process that fetches all of them."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack

from tests.fetcher.hostile_zoo.animals import ALL, tls_of
from tests.fetcher.hostile_zoo.codings import pack_bombs
from tests.fetcher.hostile_zoo.keeper import Cage
from tests.fetcher.hostile_zoo.visitors import PROFILE

#: Peak growth over an ordinary page, for limits.max_body of 5 MB: the body, its copy off the wire and the
#: decoder's window. A bomb that unfolds would take 100 MB, an endless body a gigabyte.
MAX_GROWTH_MB = 75

VISIT = """
import asyncio, json, pathlib, sys
from resources.fetcher.base import FetchRequest
from tests.fetcher.hostile_zoo.visitors import PROFILE, visitor

def peak():
    # Not ru_maxrss: that one remembers the process that started this one.
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

async def main():
    fetcher = visitor()
    urls = json.loads(sys.stdin.read())
    for _ in range(3):
        await fetcher.fetch(FetchRequest(urls[0], PROFILE))
    before = peak()
    seen = {}
    for url in urls[1:]:
        result = await fetcher.fetch(FetchRequest(url, PROFILE))
        seen[url] = [str(result.cause), round(peak() - before, 1)]
        del result
    await fetcher.close()
    print(json.dumps(seen))

asyncio.run(main())
"""


async def test_bombs_and_endless_bodies_stay_within_bounds() -> None:
    pack_bombs()
    big = [b for b in ALL if b.big]
    async with AsyncExitStack() as stack:
        cages = [await stack.enter_async_context(Cage(b).open(tls_of(b))) for b in big]
        urls = [f"{cages[0].origin}/good1", *(c.url for c in cages)]
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", VISIT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await asyncio.wait_for(child.communicate(json.dumps(urls).encode()), 60)
    assert child.returncode == 0
    seen = json.loads(out)
    by_name = {c.beast.name: seen[c.url] for c in cages}
    assert len(by_name) == len(big) >= 9
    assert max(growth for _, growth in by_name.values()) < MAX_GROWTH_MB, by_name
    for cage in cages:
        assert by_name[cage.beast.name][0] in cage.beast.causes


def test_the_bound_is_about_the_limit_and_not_about_luck() -> None:
    assert PROFILE.max_body < MAX_GROWTH_MB * 1_000_000 / 4
