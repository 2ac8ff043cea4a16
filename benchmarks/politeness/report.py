"""The tables of docs/politeness.md from the numbers of one or more runs.

    python -m benchmarks.politeness.report FILE.json…

A server and crawler measured again in a later file replaces the earlier row.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .cases import CASES
from .crawlers import CRAWLERS

__all__ = ["tables"]


def tables(files: list[Path]) -> str:
    """Markdown: ours against the bars, then everybody."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for file in files:
        for row in json.loads(file.read_text()):
            rows[row["server"], row["crawler"]] = row
    ours = CRAWLERS[0].words
    lines = [
        "| server | lost | 429s | share | whole crawl | once learned | bans | second night, first minute |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for case in CASES:
        row = rows.get((case.name, ours))
        if row is not None:
            lines.append(
                f"| {row['words']} | {row['lost']} | {row['refused']} | {row['refused'] / row['requests']:.1%}"
                f" | {row['whole']:.1%} | {row['learned']:.1%} | {row['bans']}"
                f" | {row['second_night_first_minute']} × 429 |"
            )
    lines += [
        "",
        "| server | crawler | pages lost | 429 and 503 | goodput, whole crawl | bans | seconds |",
        "| --- | --- | --: | --: | --: | --: | --: |",
    ]
    for case in CASES:
        for crawler in CRAWLERS:
            row = rows.get((case.name, crawler.words))
            if row is not None:
                # A handful of pages is no rate.
                goodput = f"{row['whole']:.0%}" if row["whole"] else "–"
                ended = f", {row['end']}" if row["end"].startswith("stopped") else ""
                lines.append(
                    f"| {row['words']} | {crawler.words} | {row['lost']:,} | {row['refused']:,}"
                    f" | {goodput} | {row['bans']} | {row['seconds']:.0f}{ended} |"
                )
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables([Path(name) for name in sys.argv[1:]]))
