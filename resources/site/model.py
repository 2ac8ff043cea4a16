"""One site file as a validated, immutable model."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
from typing import Annotated, Literal

from croniter import croniter
from pydantic import AfterValidator, Field, field_validator, model_validator

from resources.web.urls import domain_of, parse

from .item_types import RESERVED_TABLES, ItemType
from .rules import (
    CacheRules,
    Canary,
    Identity,
    Limits,
    PaceRules,
    ProxyRules,
    Quality,
    RetryRules,
    Rules,
    Scope,
    UrlRules,
    Zone,
)

__all__ = ["Site", "is_public_host", "normal_domain"]

#: Product name in the default user agent; robots.txt groups are looked up under it.
PRODUCT = "Nightcrawl"


def normal_domain(text: str) -> str:
    """`host[:port]` as the partition key: lower case, punycode, default port dropped. `*.` is kept.

    ValueError says what is wrong with the text.
    """
    wildcard = text.startswith("*.")
    host = text[2:] if wildcard else text
    if "://" in host or "/" in host:
        raise ValueError(f"{text!r}: write the host only, as in 'shop.example' or 'shop.example:8080'")
    domain = domain_of(f"https://{host}/") if parse(f"https://{host}/") else None
    if not domain or "@" in host:
        raise ValueError(f"{text!r} is no host name: write it as in 'shop.example' or '*.shop.example'")
    return ("*." if wildcard else "") + domain


def is_public_host(domain: str) -> bool:
    """Whether a domain may be somebody else's: no loopback or private address, no reserved name."""
    host = (
        domain.removeprefix("*.").rsplit(":", 1)[0]
        if not domain.startswith("[")
        else domain.split("]")[0][1:]
    )
    try:
        return bool(ipaddress.ip_address(host).is_global)
    except ValueError:
        return host != "localhost" and not host.endswith(
            (".localhost", ".example", ".test", ".invalid", ".internal")
        )


def _cron(text: str) -> str:
    if not croniter.is_valid(text) or len(text.split()) != 5:
        raise ValueError(
            f"{text!r} is no cron expression: five fields, as in '30 1 * * *' (01:30 every night)"
        )
    return text


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise ValueError(f"{text!r} is no address or network: write '127.0.0.1' or '10.1.0.0/16'") from None


class Site(Rules):
    """Everything the user says about one site. Every key is documented in docs/site-file.md."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,62}$")]
    """Short name, unique; by default the file's name."""
    domains: Annotated[tuple[str, ...], Field(min_length=1)]
    """Hosts (with port if not the default one) that this file covers; `*.shop.example` covers subdomains."""
    seeds: tuple[str, ...] = ()
    """URLs, page ranges such as `https://shop.example/list?page={1..500}`, or files of URLs (`@urls.txt`)."""
    sitemaps: Literal["auto", "off"] | tuple[str, ...] = "auto"
    """`auto`: from robots.txt, else /sitemap.xml. `off`, or a list of URLs."""
    robots: Literal["obey", "ignore"] = "obey"
    """`ignore` only for servers of your own: it needs `allow_private_addresses` or your word in `identity`."""
    scope: Scope = Scope()
    identity: Identity = Identity()
    pace: PaceRules = PaceRules()
    retry: RetryRules = RetryRules()
    cache: CacheRules = CacheRules()
    urls: UrlRules = UrlRules()
    limits: Limits = Limits()
    proxies: ProxyRules | None = None
    items: dict[str, ItemType] = Field(default_factory=dict)
    """Item types by table name."""
    canaries: tuple[Canary, ...] = ()
    quality: Quality = Quality()
    schedule: Annotated[str, AfterValidator(_cron)] = "0 1 * * *"
    """Cron of the nightly crawl."""
    zone: Zone = "UTC"
    """Time zone of `schedule`."""
    allow_private_addresses: tuple[Annotated[str, AfterValidator(_network)], ...] = ()
    """Networks that may be connected to although they are private or loopback."""
    structured_data: bool = True
    """Read JSON-LD, microdata, Open Graph and Dublin Core into the structured_data table."""

    @field_validator("domains")
    @classmethod
    def _domains(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        normal = tuple(normal_domain(d) for d in value)
        for domain in normal:
            if normal.count(domain) > 1:
                raise ValueError(f"domain {domain!r} is listed twice")
        return normal

    @field_validator("sitemaps", mode="before")
    @classmethod
    def _yaml_off(cls, value: object) -> object:
        # YAML 1.1 reads a bare `off` as false.
        return "off" if value is False else value

    @field_validator("items")
    @classmethod
    def _item_names(cls, value: dict[str, ItemType]) -> dict[str, ItemType]:
        for name in value:
            if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name):
                raise ValueError(
                    f"item type {name!r}: use lower-case letters, digits and _, starting with a letter"
                )
            if name in RESERVED_TABLES:
                raise ValueError(f"item type {name!r} is the name of a table of Nightcrawl; choose another")
        return value

    @model_validator(mode="after")
    def _contact(self) -> Site:
        agent = self.identity.user_agent or ""
        has_contact = self.identity.contact or "@" in agent or "http" in agent
        public = [d for d in self.domains if is_public_host(d)]
        if public and not has_contact:
            raise ValueError(
                f"identity.contact is required for public hosts ({public[0]}): a URL or mail address where the "
                "site's owner reaches you, as in 'contact: https://acme.example/bot'"
            )
        if public and self.robots == "ignore":
            raise ValueError("'robots: ignore' is for servers of your own; these domains are public")
        return self

    @property
    def user_agent(self) -> str:
        """The User-Agent header: as configured, or the product with the contact."""
        if self.identity.user_agent:
            return self.identity.user_agent
        contact = self.identity.contact
        return f"{PRODUCT}/0.1 (+{contact})" if contact else f"{PRODUCT}/0.1"

    @property
    def extraction_version(self) -> str:
        """Changes when a change of this file changes the rows that come out of a stored page."""
        parts = {
            "items": {k: v.model_dump(mode="json") for k, v in self.items.items()},
            "urls": self.urls.model_dump(mode="json"),
            "scope": self.scope.model_dump(mode="json"),
            "structured_data": self.structured_data,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
