"""Free memory is kept from page to page, and the kernel's again after a trim."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from resources.crawler.heap import trim_heap


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's malloc")
def test_holes_between_what_stays_are_given_back() -> None:
    # Pieces too small to be mapped each by itself, and too large for Python's own allocator.
    pieces = [bytearray(b"x" * 20_000) for _ in range(5_000)]
    full = resident()
    stay = pieces[::10]
    del pieces
    assert trim_heap()
    assert resident() < full - 40_000_000
    assert all(piece[-1:] == b"x" for piece in stay)


_PAGES = """
import resource, sys
from resources.crawler.heap import keep_heap, trim_heap
assert sys.argv[1] == "as it is" or keep_heap()
def page():
    tree = [bytearray(90_000) for _ in range(20)]  # below what is mapped by itself
page()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    page()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's malloc")
def test_what_one_page_leaves_the_next_one_uses_without_asking_the_kernel() -> None:
    def faults(how: str) -> int:
        return int(subprocess.check_output([sys.executable, "-c", _PAGES, how]))

    assert faults("as it is") > 10_000, "else there is nothing to keep"
    assert faults("kept") < 500
