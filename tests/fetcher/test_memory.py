"""What endless bodies and bombs cost in memory, measured: the peak of a process that fetches all of them."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack

import pytest

from tests.fetcher.hostile_zoo.animals import ALL, authority_pem, tls_of
from tests.fetcher.hostile_zoo.codings import pack_bombs
from tests.fetcher.hostile_zoo.keeper import Beast, Cage
from tests.fetcher.hostile_zoo.visitors import PROFILE

#: Peak growth over an ordinary page, for limits.max_body of 5 MB: the body, its copy off the wire and the
#: decoder's window. A bomb that unfolds would take 100 MB, an endless body a gigabyte.
MAX_GROWTH_MB = 75
#: What each further one at the same time may add: a body at its limit and its copy off the wire.
EACH_MORE_MB = 10

VISIT = """
import asyncio, json, pathlib, sys
from resources.fetcher.base import FetchRequest
from resources.fetcher.transports.reqwest import ReqwestTransport
from resources.fetcher.web import WebFetcher
from tests.fetcher.hostile_zoo.certificates import HOST
from tests.fetcher.hostile_zoo.visitors import PROFILE, FixedNames

def peak():
    # Not ru_maxrss: that one remembers the process that started this one.
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

async def main():
    authority, urls = json.loads(sys.stdin.read())
    fetcher = WebFetcher(ReqwestTransport(root_certificates_pem=authority.encode()), FixedNames({HOST: ("127.0.0.1",)}))
    for _ in range(3):
        await fetcher.fetch(FetchRequest(urls[0], PROFILE))
    before = peak()
    seen = {}
    room = asyncio.Semaphore(int(sys.argv[1]))

    async def visit(url):
        async with room:
            result = await fetcher.fetch(FetchRequest(url, PROFILE))
            seen[url] = [str(result.cause), round(peak() - before, 1)]

    await asyncio.gather(*map(visit, urls[1:]))
    await fetcher.close()
    print(json.dumps(seen))

asyncio.run(main())
"""


async def growth(beasts: list[Beast], at_once: int) -> dict[str, tuple[str, float]]:
    """(cause, peak growth in MB when it was over) of each beast, met by one process."""
    pack_bombs()
    async with AsyncExitStack() as stack:
        cages = [await stack.enter_async_context(Cage(b).open(tls_of(b))) for b in beasts]
        ordinary = await stack.enter_async_context(Cage(next(b for b in ALL if b.name == "silence")).open())
        urls = [f"{ordinary.origin}/good1", *(c.url for c in cages)]
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            VISIT,
            str(at_once),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await asyncio.wait_for(
            child.communicate(json.dumps([authority_pem().decode(), urls]).encode()), 120
        )
    assert child.returncode == 0
    seen = json.loads(out)
    for cage in cages:
        cause = seen[cage.url][0]
        assert (None if cause == "None" else cause) in cage.beast.causes, cage.beast.name
    return {c.beast.name: (str(seen[c.url][0]), float(seen[c.url][1])) for c in cages}


async def test_bombs_and_endless_bodies_stay_within_bounds() -> None:
    found = await growth([b for b in ALL if b.big], 1)
    assert len(found) >= 9
    assert max(megabytes for _, megabytes in found.values()) < MAX_GROWTH_MB, found


@pytest.mark.slow
async def test_so_do_all_the_others_eight_at_a_time() -> None:
    found = await growth([b for b in ALL if not b.big], 8)
    assert max(megabytes for _, megabytes in found.values()) < MAX_GROWTH_MB + 7 * EACH_MORE_MB, found


def test_the_bound_is_about_the_limit_and_not_about_luck() -> None:
    assert PROFILE.max_body < MAX_GROWTH_MB * 1_000_000 / 4
