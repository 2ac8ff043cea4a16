"""Loads the conformance data, runs the suites, counts, and prints."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import traceback
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from . import suites
from .case import ASSERTED, Check, Suite

__all__ = ["SuiteResult", "data_folder", "exceptions", "load_suites", "report", "run_suite"]

#: Fraction of `should` checks that has to pass in each suite; each failure is listed with its reason.
SHOULD_SHARE = 0.95


def data_folder() -> Path:
    default = Path(__file__).resolve().parents[3] / "shared" / "conformance"
    return Path(os.environ.get("NIGHTCRAWL_CONFORMANCE", default))


def exceptions() -> dict[str, str]:
    """Case id -> reason, from the one file that lists every exception."""
    text = (Path(__file__).parent / "exceptions.yaml").read_text()
    return {str(k): str(v) for k, v in (yaml.safe_load(text) or {}).items()}


def load_suites() -> list[Suite]:
    found = []
    for info in pkgutil.iter_modules(suites.__path__):
        module = importlib.import_module(f"{suites.__name__}.{info.name}")
        found.append(module.SUITE)
    return sorted(found, key=lambda s: s.folder)


@dataclass
class SuiteResult:
    folder: str
    files: list[str] = field(default_factory=list)
    by_level: dict[str, list[Check]] = field(default_factory=lambda: defaultdict(list))

    def failures(self, level: str) -> list[Check]:
        return [c for c in self.by_level[level] if not c.passed]

    def ok(self) -> bool:
        """`must`: every check, beside listed exceptions. `should`: the share, and each failure listed."""
        known = exceptions()
        must = [c for c in self.failures("must") if c.case_id not in known]
        should = self.by_level["should"]
        failed = self.failures("should")
        share = 1 - len(failed) / len(should) if should else 1.0
        return not must and share >= SHOULD_SHARE


def run_suite(suite: Suite, root: Path) -> SuiteResult:
    result = SuiteResult(suite.folder)
    folder = root / suite.folder
    for name, judge in suite.files.items():
        path = folder / name
        if not path.is_file():
            continue
        result.files.append(name)
        for case in json.loads(path.read_text()):
            try:
                for check in judge(case, folder):
                    result.by_level[check.level].append(check)
            except Exception:
                level = str(case.get("level", "must"))
                detail = "raised " + traceback.format_exc(limit=-2)
                result.by_level[level].append(Check(str(case["id"]), level, False, detail))
    return result


def report(results: list[SuiteResult], *, verbose: bool = False) -> int:
    known = exceptions()
    passed = failed = 0
    for result in results:
        for level in sorted(result.by_level, key=lambda lv: (lv not in ASSERTED, lv)):
            checks, bad = result.by_level[level], result.failures(level)
            print(f"{result.folder:22} {level:16} {len(checks) - len(bad):5} passed {len(bad):4} failed")
            if level in ASSERTED:
                passed += len(checks) - len(bad)
                failed += len(bad)
            for check in bad:
                if level in ASSERTED or verbose:
                    why = f" (exception: {known[check.case_id]})" if check.case_id in known else ""
                    print(f"    {check.case_id}{why}")
                    if verbose and check.detail:
                        print("        " + check.detail.replace("\n", "\n        ")[:1200])
    bad_suites = [r.folder for r in results if not r.ok()]
    print(f"must and should: {passed} passed, {failed} failed")
    if bad_suites:
        print("below the bar: " + ", ".join(bad_suites))
    return 1 if bad_suites else 0
