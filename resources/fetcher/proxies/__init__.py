"""Proxies a site has opted into: chosen by health, rested when they fail, and never silently gone around.

health.py    what is known of one proxy, and when it rests
pool.py      which proxy the next request of a domain goes through
proxied.py   the fetcher that puts the two on the way of every request: pages, robots.txt, sitemaps, canaries

A proxy connects where it wants: what is judged is what can be. Literal addresses are judged as ever. A name is
resolved here too and refused if any of its addresses is not for crawling; a name that only the proxy can resolve
is let through. With `socks5://` the name is resolved here and the proxy is given the judged address; with
`socks5h://` and HTTP proxies it is given the name. The proxy's own address is the user's choice and not judged.
"""

from __future__ import annotations

from .pool import ProxyPool
from .proxied import ProxiedFetcher

__all__ = ["ProxiedFetcher", "ProxyPool"]
