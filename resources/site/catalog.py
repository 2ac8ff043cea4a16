"""All sites of an installation: which site a domain belongs to, and which domains there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from .load import Problem, load_sites, read_sites
from .model import Site
from .seeds import seed_domains

__all__ = ["Catalog"]


class Catalog:
    """Immutable. Lookup of a domain is O(labels); the most specific entry wins (exact, then wildcards)."""

    def __init__(self, sites: Iterable[Site], folder: Path | None = None) -> None:
        self.sites = tuple(sites)
        self.folder = folder
        self._exact: dict[str, Site] = {}
        self._wild: dict[str, Site] = {}
        for site in self.sites:
            for domain in site.domains:
                if domain.startswith("*."):
                    self._wild[domain[2:]] = site
                else:
                    self._exact[domain] = site

    @classmethod
    def load(cls, folder: Path, parsed: Path | None = None) -> Catalog:
        """Every site file of `folder` (or the one file it is); SiteFileError lists all problems. `parsed`: see
        load.read_sites."""
        return cls(load_sites(folder, parsed=parsed), folder.parent if folder.is_file() else folder)

    @classmethod
    def load_usable(cls, folder: Path, parsed: Path | None = None) -> tuple[Catalog, list[Problem]]:
        """The sites that can be used, and what is wrong with the others: one bad file stops no night."""
        sites, problems = read_sites(folder, parsed=parsed)
        return cls(sites, folder.parent if folder.is_file() else folder), problems

    def for_domain(self, domain: str) -> Site | None:
        """The site that covers `domain` (`host[:port]`), or None: links there are recorded, not followed."""
        if site := self._exact.get(domain):
            return site
        rest = domain
        while "." in rest:
            rest = rest.partition(".")[2]
            if site := self._wild.get(rest):
                return site
        return None

    def site(self, name: str) -> Site | None:
        return next((s for s in self.sites if s.name == name), None)

    def domains(self) -> list[str]:
        """Domains named exactly, and hosts of seeds that a wildcard covers. The other hosts below a wildcard show up
        in the frontier as they are met."""
        return sorted({*self._exact, *self.below_wildcards})

    @cached_property
    def below_wildcards(self) -> tuple[str, ...]:
        """Hosts that no file names and a seed of the site that covers them does. Reads files of URLs."""
        return tuple(
            domain
            for site in self.sites
            if any(d.startswith("*.") for d in site.domains)
            for domain in seed_domains(site.seeds, self.folder)
            if domain not in self._exact and self.for_domain(domain) is site
        )

    def __iter__(self) -> Iterator[Site]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)
