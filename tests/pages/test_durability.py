"""What a kill leaves behind, and several processes at one store."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from resources.pages.base import Kind
from resources.pages.open import open_pages
from tests.pages.backends import Backend, each
from tests.pages.samples import DOMAIN, article, version

#: Puts batches for ever and says after each that it is durable.
WRITER = """
import sys
from resources.pages.open import open_pages
from tests.pages.samples import article, version
pages = open_pages(sys.argv[1])
first, last = int(sys.argv[2]), int(sys.argv[3])
for number in range(first, last, 5):
    pages.put([version(f"/{each}", article(each), float(each)) for each in range(number, number + 5)])
    print(number + 5, flush=True)
"""


def writer(place: str, first: int, last: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, place, str(first), str(last)], stdout=subprocess.PIPE, text=True
    )


@each(durable_only=True)
@pytest.mark.parametrize("batches", [1, 4, 9])
def test_a_kill_loses_nothing_that_was_promised(backend: Backend, tmp_path: Path, batches: int) -> None:
    place = backend.place(tmp_path)
    process = writer(place, 0, 1_000_000)
    assert process.stdout is not None
    promised = 0
    for _ in range(batches):
        promised = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    promised = max([promised, *(int(line) for line in process.stdout if line.endswith("\n"))])
    process.stdout.close()

    pages = open_pages(place)
    read = {head.url: body for head, body in pages.read(DOMAIN)}
    for number in range(promised):
        assert read[version(f"/{number}").head.url] == article(number)
    # What was being written is there whole or not at all.
    assert all(body == article(int(url.rpartition("/")[2])) for url, body in read.items())
    assert pages.verify(DOMAIN) == [] == pages.corrupt(DOMAIN)
    # And the store goes on: the same again, then housekeeping.
    pages.put([version(f"/{each}", article(each), float(each)) for each in range(promised + 5)])
    pages.maintain(DOMAIN)
    assert pages.counts(DOMAIN)[0] == max(len(read), promised + 5)
    assert pages.verify(DOMAIN) == []
    pages.close()


@each(durable_only=True)
def test_two_processes_write_one_domain(backend: Backend, tmp_path: Path) -> None:
    place = backend.place(tmp_path)
    processes = [writer(place, 0, 60), writer(place, 40, 100)]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    pages = open_pages(place)
    read = {head.url: body for head, body in pages.read(DOMAIN)}
    assert read == {version(f"/{number}").head.url: article(number) for number in range(100)}
    assert pages.counts(DOMAIN, Kind.PAGE)[0] == 100
    pages.close()


@each(durable_only=True)
def test_another_process_forgets_while_this_one_writes(backend: Backend, tmp_path: Path) -> None:
    place = backend.place(tmp_path)
    ours, other = open_pages(place), open_pages(place)
    for round_ in range(3):
        versions = [version(f"/{number}", article(number)) for number in range(round_ * 50, round_ * 50 + 50)]
        ours.put(versions)
        assert {head.url for head, _ in other.read(DOMAIN)} == {each.head.url for each in versions}
        assert other.forget(DOMAIN) == 50
        assert list(ours.scan(DOMAIN)) == []
    ours.put([version("/a", article(1))])
    assert [body for _, body in other.read(DOMAIN)] == [article(1)]
    ours.close()
    other.close()
