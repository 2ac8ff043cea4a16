"""Which domains a night has, and when each begins: from the site files' own crons. Shared by plan and schedule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from crawl_assets.automation.fire_times import GRACE, last_fire, next_fire, night_of
from resources.site.catalog import Catalog
from resources.site.model import Site

__all__ = ["Upcoming", "upcoming", "zone_of"]


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A night that is to come or has just begun. `starts`: domain → epoch seconds at which its site's cron fires."""

    night: str
    starts: dict[str, float]

    @property
    def first(self) -> float:
        return min(self.starts.values())


def upcoming(catalog: Catalog, keys: Iterable[str], now: datetime, night: str = "") -> Upcoming | None:
    """The night `night`, or the next one; None: no site has one that can still be planned.

    A site whose cron fired within the grace of the schedule belongs to the night that has just begun.
    """
    fires: dict[str, dict[str, float]] = {}
    sites: dict[str, tuple[str, float]] = {}
    for domain in keys:
        site = catalog.for_domain(domain)
        if site is None:
            continue
        name, at = sites.setdefault(site.name, _fire(site, now, night))
        fires.setdefault(name, {})[domain] = at
    if night:
        return Upcoming(night, fires[night]) if night in fires else None
    if not fires:
        return None
    name = min(fires, key=lambda n: min(fires[n].values()))
    return Upcoming(name, fires[name])


def _fire(site: Site, now: datetime, night: str) -> tuple[str, float]:
    last = last_fire(site.schedule, site.zone, now)
    name = night_of(last, site.zone)
    # A night that was asked for by name may have begun a while ago; else only one that is just beginning counts.
    if name == night or (not night and now - last <= GRACE):
        return name, last.timestamp()
    fired = next_fire(site.schedule, site.zone, now)
    return night_of(fired, site.zone), fired.astimezone(UTC).timestamp()


def zone_of(catalog: Catalog) -> str:
    """The time zone most sites name: the one in which a night as a whole is told."""
    zones = [site.zone for site in catalog]
    return max(sorted(set(zones)), key=zones.count) if zones else "UTC"
