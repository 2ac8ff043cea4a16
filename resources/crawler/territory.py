"""What a crawl may touch: the rules of each domain, compiled once from the site files.

`Territory.rules(domain)` is the compiled form of the site that covers a domain; `DomainRules.exclusion`
says whether a URL is in scope and, if not, by which line of the site file.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import cached_property, lru_cache

from resources.fetcher.base import FetchProfile, ProxyPlan
from resources.site.catalog import Catalog
from resources.site.model import Site
from resources.site.patterns import PatternSet
from resources.web.robots import product_token
from resources.web.urls import UrlPolicy

from .retry_policy import RetryPolicy
from .traps.trust import Trust

__all__ = ["DomainRules", "MissingSecret", "Territory", "url_policy"]

_SECRET = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class MissingSecret(Exception):
    """A `${NAME}` of a site file is not in the environment."""


def _with_secrets(text: str, site: Site, field: str) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in os.environ:
            raise MissingSecret(
                f"site {site.name}: {field} needs the environment variable {name}; set it or remove it"
            )
        return os.environ[name]

    return _SECRET.sub(value, text)


def url_policy(site: Site) -> UrlPolicy:
    """The site's `urls` and `scope.query` as the policy of canonical forms."""
    rules = site.urls
    return UrlPolicy(
        sort_query=rules.sort_query,
        drop_parameters=rules.drop_parameters,
        drop_tracking=rules.drop_tracking,
        trailing_slash=rules.trailing_slash,
        index_pages=rules.index_pages,
        keep_parameters=() if site.scope.query == "drop" else None,
    )


class DomainRules:
    """Everything a crawl needs to know about one domain, ready to use."""

    def __init__(self, domain: str, site: Site) -> None:
        self.domain = domain
        self.site = site
        self.policy = url_policy(site)
        self.include = PatternSet(site.scope.include)
        self.exclude = PatternSet(site.scope.exclude)
        self.item_pages = PatternSet(tuple(p for i in site.items.values() for p in i.match if p != "/*"))
        self.trust = Trust(site.traps)
        self.agent = self._agent()
        self.token = product_token(self.agent) or "*"
        self.retry = RetryPolicy(
            site.retry.attempts, site.retry.base, site.retry.cap, site.pace.retry_after_max
        )

    def _agent(self) -> str:
        agents = self.site.identity.agents
        if not agents:
            return self.site.user_agent
        # One agent per domain for good: a visitor that changes its name between pages looks like a bot net.
        digest = hashlib.sha256(self.domain.encode()).digest()
        return agents[int.from_bytes(digest[:4], "big") % len(agents)]

    @cached_property
    def profile(self) -> FetchProfile:
        """What every request of the domain is made with. MissingSecret: a `${NAME}` is not in the environment; only
        who fetches needs it, so pages are parsed, imported and judged without."""
        site, limits = self.site, self.site.limits
        headers = [("user-agent", self.agent)]
        contact = site.identity.contact or ""
        if site.identity.from_header and "@" in contact and "://" not in contact:
            headers.append(("from", contact))
        for name, value in site.identity.headers.items():
            headers.append((name.lower(), _with_secrets(value, site, f"identity.headers.{name}")))
        return FetchProfile(
            headers=tuple(headers),
            connect_timeout_s=limits.connect_timeout,
            read_timeout_s=limits.read_timeout,
            total_timeout_s=limits.total_timeout,
            max_body=limits.max_body,
            max_ratio=limits.max_ratio,
            allow_networks=site.allow_private_addresses,
            proxies=self._proxies(),
        )

    def makes_rows(self, url: str) -> bool:
        """Whether the site file says that items stand on pages like this one, by more than `/*`."""
        return bool(self.item_pages) and self.item_pages.first(url) is not None

    def _proxies(self) -> ProxyPlan | None:
        """The site's proxies with credentials from the environment; None: direct connections."""
        rules = self.site.proxies
        if rules is None:
            return None
        urls = tuple(_with_secrets(url, self.site, "proxies.urls") for url in rules.urls)
        return ProxyPlan(urls, rules.choice, rules.sticky, rules.ban_seconds)

    def exclusion(self, url: str, depth: int) -> tuple[str, str] | None:
        """(reason, detail) if the canonical URL is out of scope, else None. Numbered cases:

        1. matches an exclude pattern; 2. include patterns exist and none matches; 3. too deep;
        4. has a query where the site file ignores such URLs.
        """
        scope = self.site.scope
        if self.exclude and (pattern := self.exclude.first(url)) is not None:
            return "scope", f"scope.exclude: {pattern}"
        if self.include and self.include.first(url) is None:
            return "scope", "matches no pattern of scope.include"
        if scope.max_depth is not None and depth > scope.max_depth:
            return "depth", f"depth {depth} is beyond scope.max_depth: {scope.max_depth}"
        if scope.query == "ignore" and "?" in url:
            return "scope", "scope.query: ignore"
        return None


class Territory:
    """The rules of every domain the site files cover. Lookup is cached."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.rules = lru_cache(maxsize=200_000)(self._rules)

    def _rules(self, domain: str) -> DomainRules | None:
        site = self.catalog.for_domain(domain)
        return DomainRules(domain, site) if site is not None else None
