"""Takes the pictures of docs/operating.md and the README again: `python docs/screenshots.py` (some five minutes).

They are by-products of the operator's end-to-end test, so they show what was asserted a moment before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
#: What the documents show; the test takes more.
SHOWN = (
    "asset-graph.png",
    "asset.png",
    "partitions.png",
    "checks.png",
    "runs.png",
    "night-report.png",
    "night-report-phone.png",
)


def main() -> int:
    """Run the test, then take over the pictures. Nothing is changed when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        test = [sys.executable, "-m", "pytest", "-m", "slow", "-x", "tests/dagster/test_operator_e2e.py"]
        environment = os.environ | {"NIGHTCRAWL_SCREENSHOTS": folder}
        code = subprocess.run(test, cwd=ROOT, env=environment, check=False).returncode
        missing = [name for name in SHOWN if not (Path(folder) / name).exists()]
        if code or missing:
            print(f"no picture was changed; missing: {', '.join(missing) or 'none'}", file=sys.stderr)
            return code or 1
        IMAGES.mkdir(exist_ok=True)
        for name in SHOWN:
            shutil.copy(Path(folder) / name, IMAGES / name)
    print(f"{len(SHOWN)} pictures in {IMAGES}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
