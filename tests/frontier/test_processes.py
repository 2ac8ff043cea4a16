"""Several processes on one frontier, and processes that are killed: on every durable back-end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from resources.frontier.base import StateCounts
from resources.frontier.open import open_frontier
from tests.frontier.backends import Backend, each
from tests.frontier.samples import NEWS, SHOP, url

PROLOGUE = """
import os, sys
from resources.frontier.base import Ack, Verdict
from resources.frontier.open import open_frontier
from tests.frontier.samples import SHOP, done, log_row, url
frontier = open_frontier(sys.argv[1])
"""

#: Claims until nothing is left, links every page to its neighbours, and prints what it got.
WORKER = (
    PROLOGUE
    + """
name = sys.argv[2]
while claims := frontier.claim(SHOP, 7, name, 3600, 2.0):
    for claim in claims:
        print(claim.url, flush=False)
    here = [int(claim.url.rpartition("/")[2]) for claim in claims]
    acks = [
        done(claim, 3.0, outlinks=[url(str(number + step)) for step in range(60) if number + step < 600])
        for claim, number in zip(claims, here)
    ]
    assert frontier.commit(acks, 3.0).stale == 0
"""
)

#: Commits one page after the other, says so after each, and goes on until it is killed.
COMMITTER = (
    PROLOGUE
    + """
number = 0
while True:
    frontier.enqueue([url(str(number))], 1.0)
    (claim,) = frontier.claim(SHOP, 1, "w", 10, 2.0)
    frontier.commit([done(claim, 3.0, log=log_row(str(number)))], 3.0)
    print(number, flush=True)
    number += 1
"""
)

#: Is killed in the middle of a write transaction: after the acks, before the end of it.
HALFWAY = (
    PROLOGUE
    + """
class Dies:
    def __iter__(self):
        yield url("outlink")
        os.kill(os.getpid(), 9)
(claim,) = frontier.claim(SHOP, 1, "w", 10, 2.0)
frontier.commit([done(claim, 3.0, outlinks=Dies())], 3.0)
"""
)


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True, cwd=root
    )


@each(durable_only=True)
def test_processes_never_claim_the_same_url(backend: Backend, tmp_path: Path) -> None:
    place = backend.place(tmp_path)
    frontier = open_frontier(place)
    frontier.enqueue([url(str(number)) for number in range(0, 600, 50)], 1.0)
    workers = [start(WORKER, place, f"w{number}") for number in range(3)]
    outputs = [worker.communicate(timeout=60)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    claimed = [line for output in outputs for line in output.split()]
    assert len(claimed) == len(set(claimed)) == 600
    assert frontier.counts(SHOP) == StateCounts(done=600) == frontier.recount(SHOP)
    frontier.close()


@each(durable_only=True)
def test_what_commit_returned_from_survives_kill_9(backend: Backend, tmp_path: Path) -> None:
    place = backend.place(tmp_path)
    worker = start(COMMITTER, place)
    assert worker.stdout is not None
    said = [int(worker.stdout.readline()) for _ in range(20)]
    os.kill(worker.pid, signal.SIGKILL)
    said += [int(line) for line in worker.communicate()[0].split()]
    frontier = open_frontier(place)
    counts = frontier.counts(SHOP)
    assert counts == frontier.recount(SHOP)
    assert counts.done >= len(said)
    assert len(frontier.read_log(0, 10_000)) == counts.done
    assert frontier.reap(1_000.0) == counts.leased
    frontier.close()


@each(durable_only=True)
def test_a_commit_that_is_killed_half_way_did_not_happen(backend: Backend, tmp_path: Path) -> None:
    place = backend.place(tmp_path)
    frontier = open_frontier(place)
    frontier.enqueue([url("a"), url("n", NEWS)], 1.0)
    worker = start(HALFWAY, place)
    worker.communicate(timeout=60)
    assert worker.returncode == -signal.SIGKILL
    assert frontier.counts(SHOP) == StateCounts(leased=1) == frontier.recount(SHOP)
    assert frontier.known([url("outlink").key]) == set()
    assert frontier.reap(100.0) == 1
    assert len(frontier.claim(SHOP, 1, "w2", 10, 100.0)) == 1
    frontier.close()


@each(durable_only=True)
def test_two_open_frontiers_see_each_others_urls(backend: Backend, tmp_path: Path) -> None:
    place = backend.place(tmp_path)
    one, two = open_frontier(place), open_frontier(place)
    one.enqueue([url("a"), url("b")], 1.0)
    assert two.enqueue([url("b"), url("c")], 1.0).new == 1
    assert one.enqueue([url("a"), url("c")], 1.0).known == 2
    assert two.reset(SHOP) == 3
    assert one.known([url("a").key]) == set()
    assert one.enqueue([url("a")], 2.0).new == 1
    assert two.known([url("a").key]) == {url("a").key}
    one.close()
    two.close()


@each(durable_only=True)
def test_processes_that_start_at_once_agree_on_one_frontier(backend: Backend, tmp_path: Path) -> None:
    place = backend.place(tmp_path)
    script = PROLOGUE + "assert frontier.enqueue([url(name) for name in sys.argv[2:]], 1.0).new in (0, 1, 2)"
    starters = [start(script, place, "all", str(number)) for number in range(6)]
    for starter in starters:
        starter.communicate(timeout=60)
    assert [starter.returncode for starter in starters] == [0] * 6
    frontier = open_frontier(place)
    assert frontier.counts(SHOP) == StateCounts(pending=7) == frontier.recount(SHOP)
    frontier.close()
