"""A step in a process that dies by kill -9 at a named point, and the two nights it is tried on."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

from resources.frontier.base import Ack, FetchLogRow, State, Verdict
from resources.warehouse.publish import publish
from tests.frontier.samples import url
from tests.warehouse.shop import DOMAIN, Shop, lamp_page

__all__ = ["die", "second_night"]

#: Runs a step and dies at a named point of it: just before or just after the given function is called.
DYING = """
import os, signal, sys
from importlib import import_module
from base64 import b64decode
from pickle import loads
installation, step, module, name, when = sys.argv[1:]
owner = import_module(module)
*path, last = name.split(".")
for part in path:
    owner = getattr(owner, part)
real = getattr(owner, last)
def dying(*args, **kwargs):
    if when == "after":
        real(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(owner, last, dying)
installation = loads(b64decode(installation))
if step == "parse":
    from resources.warehouse.parse import parse_domain
    parse_domain(installation, "shop.example", run_id="r2", processes=1)
elif step == "load":
    from resources.warehouse.load import load_domains
    load_domains(installation, ["shop.example"], run_id="r2")
else:
    from resources.warehouse.publish import publish
    publish(installation)
"""


def second_night(shop: Shop) -> None:
    """A first night done and published; a second one in the page store and the frontier."""
    for number in range(4):
        shop.put(f"/lamp/{number}", lamp_page(f"L{number}"))
    shop.night("r1")
    publish(shop.installation)
    shop.put("/lamp/1", lamp_page("L1", "£6.00"))
    shop.put("/lamp/9", lamp_page("L9"))
    shop.state("/lamp/0", State.FAILED, cause="http_404")
    frontier = shop.installation.open_frontier()
    frontier.enqueue([url("a"), url("b")], 1.0)
    for claim in frontier.claim(DOMAIN, 2, "w", 60, 1.0):
        row = FetchLogRow(claim.url, DOMAIN, "r2", "w", 1, 5.0, 2.5, 7.0, 200, "ok")
        frontier.commit([Ack(claim, Verdict.DONE, 6.0, log=row)], 6.0)
    frontier.close()


def die(shop: Shop, step: str, module: str, name: str, when: str) -> None:
    """Run `step` (parse, load, publish) until just before or after the function is called."""
    place = b64encode(pickle.dumps(shop.installation)).decode()
    ended = subprocess.run(
        [sys.executable, "-c", DYING, place, step, module, name, when],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ended.returncode == -signal.SIGKILL, ended.stderr
