"""The domain partitions, and how they follow the site files without a restart.

A domain is `host[:port]`, the unit of politeness. Partitions are added site by site, so that the domains of a
site stand next to each other and one run can take them as a range. A domain that no site file covers any more is
*retired*: its partition goes, its pages, rows and history stay, and all of it is back when the file is.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import dagster as dg

from resources.installation import Installation
from resources.site.catalog import Catalog
from resources.site.load import Problem

__all__ = [
    "PartitionChange",
    "contiguous",
    "domains",
    "known_domains",
    "sync_partitions",
    "usable_sites",
    "wanted_domains",
]

domains = dg.DynamicPartitionsDefinition(name="domains")

#: Substrings Dagster's partition keys may not have; a host never does, a bad wildcard match might.
FORBIDDEN = ("...", ",", "|")


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """What one look at the site files changed. `problems`: files that could not be used; they change nothing."""

    added: tuple[str, ...]
    retired: tuple[str, ...]
    problems: tuple[Problem, ...]


def wanted_domains(catalog: Catalog, met: Iterable[str]) -> list[str]:
    """Domains in site order: those named, then those of seeds or met while crawling that a wildcard covers."""
    named = {d: None for site in catalog for d in site.domains if not d.startswith("*.")}
    covered: dict[str, list[str]] = {}
    for domain in {*met, *catalog.below_wildcards}:
        site = catalog.for_domain(domain)
        if site is not None and domain not in named:
            covered.setdefault(site.name, []).append(domain)
    ordered: list[str] = []
    for site in catalog:
        ordered += [d for d in site.domains if d in named]
        ordered += sorted(covered.get(site.name, ()))
    return [d for d in ordered if not any(bad in d for bad in FORBIDDEN)]


def usable_sites(installation: Installation) -> tuple[str, Catalog, list[Problem]]:
    """(signature, sites, problems) of the folder of site files.

    The files are read again only when a name, a size or a time has changed: schedules and sensors ask every minute.
    """
    folder = installation.sites
    if not folder.is_dir():
        return "no folder", Catalog([], folder), []
    signature = hashlib.sha256(json.dumps(_looks(folder)).encode()).hexdigest()[:16]
    catalog, problems = _read_sites(installation, signature)
    return signature, catalog, list(problems)


def _looks(folder: Path) -> list[tuple[str, int, int]]:
    """Name, time and size of each file. Costs 4 us a file."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(
                FileNotFoundError
            ):  # an editor's or somebody else's, who has just put it into its place
                looks = entry.stat()
                if stat.S_ISREG(looks.st_mode):
                    found.append((entry.name, looks.st_mtime_ns, looks.st_size))
    return sorted(found)


@lru_cache(maxsize=1)  # thousands of sites: what they were before is not kept beside what they are
def _read_sites(installation: Installation, signature: str) -> tuple[Catalog, tuple[Problem, ...]]:
    del signature  # part of the cache's key
    catalog, problems = installation.usable_catalog()
    return catalog, tuple(problems)


def sync_partitions(instance: dg.DagsterInstance, installation: Installation) -> PartitionChange:
    """Make the partitions those of the site files. While a file is broken nothing is retired: it may be its domain."""
    name = str(domains.name)
    # Read before the files: what somebody else adds meanwhile is not in an older view of the files, and must stay.
    present = set(instance.get_dynamic_partitions(name))
    _, catalog, problems = usable_sites(installation)
    wanted = known_domains(installation, catalog)
    added = [d for d in wanted if d not in present]
    if added:
        instance.add_dynamic_partitions(name, added)
    retired: list[str] = []
    if not problems:
        retired = sorted(present - set(wanted))
        for domain in retired:
            instance.delete_dynamic_partition(name, domain)
    return PartitionChange(tuple(added), tuple(retired), tuple(problems))


def known_domains(installation: Installation, catalog: Catalog) -> list[str]:
    """The domains of `catalog`, with those below its wildcards that seeds name or earlier crawls met."""
    return wanted_domains(catalog, _met(installation, catalog))


def _met(installation: Installation, catalog: Catalog) -> list[str]:
    """Domains the frontier knows; asked only when a wildcard could cover one."""
    if not any(d.startswith("*.") for site in catalog for d in site.domains):
        return []
    frontier = installation.prepare().open_frontier()
    try:
        return sorted(frontier.all_counts())
    finally:
        frontier.close()


def contiguous(keys: Sequence[str], wanted: Iterable[str], at_most: int) -> list[tuple[str, str, int]]:
    """`wanted` as (first, last, count) stretches of `keys`, none longer than `at_most`: one run each."""
    chosen = set(wanted)
    stretches: list[tuple[str, str, int]] = []
    length = 0
    for key in keys:
        if key not in chosen:
            length = 0
            continue
        if 0 < length < at_most:
            first, _, _ = stretches.pop()
            length += 1
            stretches.append((first, key, length))
        else:
            length = 1
            stretches.append((key, key, 1))
    return stretches
