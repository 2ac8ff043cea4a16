"""Memory that was freed between pieces that stay is the kernel's again after a trim."""

from __future__ import annotations

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
