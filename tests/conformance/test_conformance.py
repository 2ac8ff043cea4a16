"""Every suite whose data is present meets its bar: all of `must`, 95 % of `should`."""

from __future__ import annotations

import pytest

from .case import Suite
from .runner import data_folder, exceptions, load_suites, run_suite


@pytest.mark.parametrize("suite", load_suites(), ids=lambda s: s.folder)
def test_suite(suite: Suite) -> None:
    root = data_folder()
    if not (root / suite.folder).is_dir():
        pytest.skip(f"no conformance data at {root / suite.folder}")
    result = run_suite(suite, root)
    known = exceptions()
    unlisted = [c for level in ("must", "should") for c in result.failures(level) if c.case_id not in known]
    assert not unlisted, "\n".join(f"{c.level} {c.case_id}: {c.detail[:300]}" for c in unlisted[:20])
    assert result.ok()
