"""One site file as a validated, immutable model."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Literal

from croniter import CroniterError, croniter
from pydantic import AfterValidator, Field, field_validator, model_validator

from resources.web.urls import domain_of, parse, redact

from .base import REMEMBERED, Rules, Zone, alike
from .identity import Identity
from .item_types import ItemName, ItemType
from .pace import PaceRules
from .problems import FieldError, FieldErrors
from .rules import CacheRules, Canary, Limits, ProxyRules, Quality, RetryRules, Scope, TrapRules, UrlRules

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
    domain = domain_of(f"https://{host}/")
    if not domain or "@" in host:
        raise ValueError(f"{text!r} is no host name: write it as in 'shop.example' or '*.shop.example'")
    # Each scheme leaves its own default port out of a URL's domain, so neither can be part of a key.
    return ("*." if wildcard else "") + domain.removesuffix(":80")


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


@lru_cache(maxsize=REMEMBERED)
def _cron(text: str) -> str:
    if not croniter.is_valid(text) or len(text.split()) != 5:
        raise ValueError(
            f"{text!r} is no cron expression: five fields, as in '30 1 * * *' (01:30 every night)"
        )
    try:
        croniter(text).get_next()
    except CroniterError:
        raise ValueError(f"{text!r} never comes: no month has such a day") from None
    return text


@lru_cache(maxsize=REMEMBERED)
def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        raise ValueError(f"{text!r} is no address or network: write '127.0.0.1' or '10.1.0.0/16'") from None


class Site(Rules):
    """Everything the user says about one site. Every key is documented in docs/site-file.md."""

    name: str
    """Short name, unique; by default the file's name."""
    domains: tuple[Annotated[str, AfterValidator(normal_domain)], ...]
    """Hosts (with port if not the default one) that this file covers; `*.shop.example` covers subdomains."""
    seeds: tuple[str, ...] = ()
    """URLs, page ranges such as `https://shop.example/list?page={1..500}`, or files of URLs (`@urls.txt`)."""
    sitemaps: Literal["auto", "off"] | tuple[str, ...] = "auto"
    """`auto`: from robots.txt, else /sitemap.xml. `off`, or a list of URLs."""
    robots: Literal["obey", "ignore"] = "obey"
    """`ignore` is for servers of your own and an error for public hosts."""
    scope: Annotated[Scope, alike()] = Scope()
    """Which URLs belong to the crawl."""
    identity: Annotated[Identity, alike()] = Identity()
    """Who the crawler says it is."""
    pace: Annotated[PaceRules, alike()] = PaceRules()
    """How fast, and when."""
    retry: Annotated[RetryRules, alike()] = RetryRules()
    """What happens to a URL that failed."""
    cache: Annotated[CacheRules, alike()] = CacheRules()
    """When a page is due again."""
    urls: Annotated[UrlRules, alike()] = UrlRules()
    """When two URLs are the same page."""
    limits: Annotated[Limits, alike()] = Limits()
    """Bounds on every response."""
    traps: Annotated[TrapRules, alike()] = TrapRules()
    """What is taken for a place without end."""
    proxies: ProxyRules | None = None
    """Opt-in proxies. Unset: direct connections."""
    items: dict[ItemName, Annotated[ItemType, alike()]] = Field(default_factory=dict)
    """Item types by table name."""
    canaries: tuple[Canary, ...] = ()
    """Pages that must look right before a night may start, and after it."""
    quality: Annotated[Quality, alike()] = Quality()
    """What the audit accepts before tonight's rows replace last night's."""
    schedule: Annotated[str, AfterValidator(_cron)] = "0 1 * * *"
    """Cron of the nightly crawl."""
    zone: Zone = "UTC"
    """Time zone of `schedule`."""
    allow_private_addresses: tuple[Annotated[str, AfterValidator(_network)], ...] = ()
    """Networks that may be connected to although they are private or loopback."""
    structured_data: bool = True
    """Read JSON-LD, microdata, RDFa, microformats, Open Graph and Dublin Core into the structured_data table."""

    @field_validator("name")
    @classmethod
    def _name(cls, value: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", value):
            raise ValueError(
                f"{value!r}: use up to 63 lower-case letters, digits, - and _, starting with a letter"
            )
        return value

    @field_validator("domains")
    @classmethod
    def _domains(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise ValueError("is empty: name at least one host, as in [shop.example]")
        twice = [i for i, domain in enumerate(value) if domain in value[:i]]
        if twice:
            raise FieldErrors(
                [FieldError(f"domain {value[i]!r} is listed twice: remove one", i) for i in twice]
            )
        return value

    @field_validator("sitemaps")
    @classmethod
    def _sitemap_urls(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for index, url in enumerate(value) if isinstance(value, tuple) else ():
            if parse(url) is None:
                raise FieldError(
                    f"{redact(url)!r} is no http(s) URL: write it whole, as in 'https://shop.example/map.xml'",
                    index,
                )
        return value

    @model_validator(mode="after")
    def _rules_over_keys(self) -> Site:
        if errors := [*self._manners(), *self._strangers()]:
            raise FieldErrors(errors)
        return self

    def _manners(self) -> Iterator[FieldError]:
        """What is owed to servers of other people. Numbered cases:

        1. no contact; 2. robots.txt ignored; 3. no rate at all.
        """
        public = next((d for d in self.domains if is_public_host(d)), None)
        if public is None:
            return
        agents = (self.identity.user_agent or "", *self.identity.agents)
        if not self.identity.contact and not any("@" in a or "http" in a for a in agents):
            yield FieldError(
                f"is required for public hosts ({public}): a URL or mail address where the site's owner "
                "reaches you, as in 'contact: https://acme.example/bot'",
                *("identity", "contact"),
            )
        if self.robots == "ignore":
            yield FieldError(f"'ignore' is for servers of your own; {public} is public: remove it", "robots")
        if self.pace.rate == float("inf"):
            yield FieldError(
                f"'unlimited' is for servers of your own; {public} is public: write 'auto' or a number",
                *("pace", "rate"),
            )

    def _strangers(self) -> Iterator[FieldError]:
        """Canaries on domains of somebody else."""
        for index, canary in enumerate(self.canaries):
            domain = domain_of(canary.url)
            if domain is not None and not self.covers(domain):
                yield FieldError(
                    f"is on {domain}, which is not among 'domains': add it or remove the canary",
                    *("canaries", index, "url"),
                )

    def covers(self, domain: str) -> bool:
        """Whether `host[:port]` is one of the domains or below a wildcard."""
        if domain in self.domains:
            return True
        rest = domain
        while "." in rest:
            rest = rest.partition(".")[2]
            if f"*.{rest}" in self.domains:
                return True
        return False

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
            "urls": self.urls.model_dump(mode="json", exclude={"audit"}),
            "scope": self.scope.model_dump(mode="json"),
            "structured_data": self.structured_data,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
