"""One practice site as data: what it sells, where it listens, how it behaves. Plain JSON in and out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from practice_site.behaviour import Behaviour
from practice_site.words import CATEGORIES

__all__ = ["SiteConfig", "config_from_json", "many_sites"]

MAX_CATEGORIES = len(CATEGORIES)


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """A site. Two sites with equal `seed`, sizes, behaviour and night have equal pages, byte for byte."""

    n_products: int = 2000
    seed: int = 1
    night: int = 1
    """Counted from 1; prices, arrivals and departures follow from it."""
    host: str = "127.0.0.1"
    """The loopback address to listen on; 127.0.0.2, .3 … give each site a domain of its own on one port."""
    port: int = 0
    """0 takes a free one."""
    per_page: int = 20
    """Books on one list page."""
    n_categories: int = 0
    """0: one for every 25 books, between 2 and 12."""
    public_origin: str = ""
    """`http://host[:port]` to write into robots.txt, sitemaps and canonical links when it is not the address."""
    neighbours: tuple[str, ...] = ()
    """URLs of other sites that /links leads to."""
    log_file: str = ""
    """Path of a JSONL file that also receives every request; empty keeps them in memory only."""
    behaviour: Behaviour = field(default_factory=Behaviour)

    def __post_init__(self) -> None:
        for name, least in (
            ("n_products", 1),
            ("night", 1),
            ("per_page", 1),
            ("n_categories", 0),
            ("port", 0),
        ):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least {least}")

        if self.n_categories > MAX_CATEGORIES:
            raise ValueError(f"n_categories={self.n_categories}: at most {MAX_CATEGORIES} have a name")

    @property
    def categories(self) -> int:
        return self.n_categories or max(2, min(MAX_CATEGORIES, self.n_products // 25))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def config_from_json(data: Mapping[str, Any]) -> SiteConfig:
    """The inverse of `SiteConfig.to_json`; unknown keys raise TypeError."""
    values = dict(data)
    values["behaviour"] = Behaviour(**values.get("behaviour", {}))
    values["neighbours"] = tuple(values.get("neighbours", ()))
    return SiteConfig(**values)


def many_sites(count: int, template: SiteConfig, *, first_host: int = 2) -> list[SiteConfig]:
    """`count` sites like `template` on 127.0.0.2, 127.0.0.3 … with seeds of their own.

    The third octet carries on after .254, so thousands are possible on one port.
    """
    sites = []
    for index in range(count):
        high, low = divmod(index + first_host - 1, 254)
        values = template.to_json() | {"host": f"127.0.{high}.{low + 1}", "seed": template.seed + index}
        sites.append(config_from_json(values))
    return sites
