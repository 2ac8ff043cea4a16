"""10-block-pages: walls, and pages that only look like them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from resources.web.walls import judge

from ..case import Case, Check, Suite

__all__ = ["SUITE"]


def _judge(case: Case, folder: Path) -> Iterator[Check]:
    given, expected = case["input"], case["expected"]
    headers = [(str(name), str(value)) for name, value in given["headers"].items()]
    url = str(given.get("final_url", given["url"]))
    verdict = judge(int(given["status"]), headers, str(given.get("body") or ""), url)
    passed = (verdict.blocked, verdict.kind) == (expected["blocked"], expected["kind"])
    # The vendor is a help, not a demand; a wrong name on a wall is still shown.
    yield Check(str(case["id"]), str(case.get("level", "must")), passed, f"{verdict}, expected {expected}")
    if expected.get("vendor") and expected["blocked"]:
        vendors = expected.get("vendor_any_of") or given.get("vendor_any_of") or [expected["vendor"]]
        named = verdict.vendor in vendors
        yield Check(f"{case['id']}#vendor", "observe", named, f"{verdict.vendor}, expected {vendors}")


SUITE = Suite("10-block-pages", {"pages.json": _judge})
