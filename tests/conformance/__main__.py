"""`make conformance`: run every suite whose data is present and print passed, failed, ids of failures.

    python -m tests.conformance [SUITE ...] [--verbose]

Data is read from NIGHTCRAWL_CONFORMANCE (default ../shared/conformance); any subset of suites and files
may be present. Exit code 1 when a `must` fails or fewer than 95 % of a suite's `should` pass.
"""

from __future__ import annotations

import sys

from .runner import data_folder, load_suites, report, run_suite


def main(argv: list[str]) -> int:
    verbose = "--verbose" in argv
    wanted = [a for a in argv if not a.startswith("-")]
    root = data_folder()
    if not root.is_dir():
        print(f"no conformance data at {root}: set NIGHTCRAWL_CONFORMANCE to the folder that holds it")
        return 0
    results = [
        run_suite(suite, root)
        for suite in load_suites()
        if not wanted or any(w in suite.folder for w in wanted)
    ]
    return report(results, verbose=verbose)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
