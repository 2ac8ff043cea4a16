"""`integrity`: every stored body has the hash it was stored under."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from crawl_assets.checks.finding import Finding, domain_check

__all__ = ["SPEC", "integrity"]

SPEC = domain_check(
    "integrity",
    "raw_html",
    "Every stored body was read and has the hash it was stored under. When red: the disk or somebody else changed "
    "the page store. The damaged pages are pending again; check the disk and restore from a backup if there are many.",
)

SHOWN = 50


def integrity(bodies: int, damaged: Sequence[str]) -> Finding:
    """`damaged`: URLs whose body is missing or wrong."""
    numbers = {"bodies": bodies, "damaged": len(damaged)}
    if not damaged:
        return Finding(True, f"{bodies:,} bodies are intact", numbers)
    urls = dg.MetadataValue.md("\n".join(f"- {url}" for url in damaged[:SHOWN]))
    return Finding(
        False, f"{len(damaged)} bodies are damaged and will be fetched again", numbers | {"urls": urls}
    )
