"""A process that asked for a short end leaves cycles alone, and ends like any other otherwise."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import atexit, sys
from resources.process_end import end_without_collecting

class Circle:
    def __init__(self):
        self.own = self
    def __del__(self):
        print("collected")

if sys.argv[1] == "short":
    end_without_collecting()
    end_without_collecting()
atexit.register(print, "handlers run")
circle = Circle()
del circle
print("written without a flush", end=" ")
sys.exit(7)
"""


@pytest.mark.parametrize(("end", "collected"), [("short", False), ("usual", True)])
def test_cycles_are_left_to_the_kernel_and_all_else_is_as_ever(end: str, collected: bool) -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, end], capture_output=True, text=True, check=False)
    assert done.returncode == 7
    assert done.stdout.startswith("written without a flush handlers run")
    assert ("collected" in done.stdout) is collected
    assert done.stderr == ""
