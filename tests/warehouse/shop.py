"""A small installation whose page store and frontier are filled by hand, one night after another."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from xxhash import xxh3_128_digest

from resources.frontier.base import Source, State, UrlRecord
from resources.installation import Installation
from resources.pages.base import Kind, PageHead, PageVersion
from resources.warehouse.load import LoadReport, load_domains
from resources.warehouse.parse import ParseReport, ParserPool, parse_domain
from resources.web.urls import key

__all__ = ["DOMAIN", "Shop", "lamp_page"]

DOMAIN = "shop.example"
SITE: dict[str, Any] = {
    "domains": [DOMAIN],
    "items": {
        "lamp": {
            "match": "/lamp/*",
            "key": ["sku"],
            "fields": {
                "sku": {"css": ".sku", "required": True},
                "price": {"css": ".price", "type": "money"},
            },
        }
    },
}


def lamp_page(sku: str, price: str = "£5.00", more: str = "") -> str:
    return (
        f"<title>Lamp {sku}</title><p class=sku>{sku}</p><p class=price>{price}</p>"
        f'<a href="/">home</a><a href="/lamp/1">first</a>{more}'
    )


class Shop:
    """Pages are put by path; `night` parses and loads."""

    def __init__(self, folder: Path, tables: str = "") -> None:
        """`tables`: where they are kept, if not in the data folder."""
        (folder / "sites").mkdir(parents=True)
        place = Installation.at(folder / "data", folder / "sites")
        self.installation = replace(place, tables=tables or place.tables).prepare()
        self.now = 1_700_000_000.0
        self._pool: ParserPool | None = None
        self.site("shop", SITE)

    @staticmethod
    def key(url: str) -> bytes:
        return key(url)

    def site(self, name: str, site: dict[str, Any]) -> None:
        self.close()
        (self.installation.sites / f"{name}.yaml").write_text(yaml.safe_dump(site))

    def retire(self, name: str) -> None:
        self.close()
        (self.installation.sites / f"{name}.yaml").unlink()

    def put(self, path: str, html: str | bytes, domain: str = DOMAIN, **fields: Any) -> None:
        body = html if isinstance(html, bytes) else html.encode()
        url = f"https://{domain}{path}"
        values: dict[str, Any] = {
            "key": key(url), "url": url, "domain": domain, "kind": Kind.PAGE, "status": 200,
            "headers": (("Content-Type", "text/html"),), "content_hash": xxh3_128_digest(body),
            "body_bytes": len(body), "fetched_at": self.now, "validated_at": self.now, "first_seen_at": self.now,
            "changed_at": self.now, "final_url": url, "run_id": "fetch",
        }  # fmt: skip
        store = self.installation.open_pages()
        store.put([PageVersion(PageHead(**{**values, **fields}), body)])
        store.close()

    def state(self, path: str, state: State, domain: str = DOMAIN, **fields: Any) -> None:
        url = f"https://{domain}{path}"
        values: dict[str, Any] = {
            "key": key(url), "url": url, "domain": domain, "state": state, "depth": 1, "priority": 20,
            "source": Source.LINK, "parent": None, "discovered_at": 5.0, "fetches": 1, "done_at": 6.0,
        }  # fmt: skip
        frontier = self.installation.open_frontier()
        frontier.put_records([UrlRecord(**{**values, **fields})])
        frontier.close()

    def machine(self, folder: Path) -> Shop:
        """The same shop on another machine: frontier, pages and site files are shared, the disk is another."""
        other = copy(self)
        other.installation = replace(self.installation, data=folder).prepare()
        other._pool = None
        return other

    def parse(self, run: str = "r1", domain: str = DOMAIN, **options: Any) -> ParseReport:
        if self._pool is None:
            self._pool = ParserPool(self.installation, self.installation.catalog(), 1)
        return parse_domain(self.installation, domain, run_id=run, pool=self._pool, **options)

    def close(self) -> None:
        """End the parser process; it keeps the site files it was started with."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def load(self, run: str = "r1", *domains: str) -> LoadReport:
        report = load_domains(self.installation, domains or (DOMAIN,), run_id=run)
        assert not report.failed, report.failed
        return report

    def night(self, run: str, **options: Any) -> ParseReport:
        """Parse and load; the clock moves on by a day."""
        report = self.parse(run, **options)
        self.load(run)
        self.now += 86_400
        return report

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """From the warehouse itself."""
        with self.installation.open_tables().warehouse() as warehouse:
            return warehouse.connection.execute(sql).fetchall()
