"""The address of a shared Redis: `redis://[user:password@]host[:port][/number][?namespace=…&check=…&cluster=1]`.

============  ============================================================================================
namespace     first part of every key: several installations may share a server           nightcrawl
check         `refuse` a server whose settings could lose URLs, or only `warn`             refuse
cluster       1: a Redis Cluster; each domain lives on one shard                          0
============  ============================================================================================

`rediss://` is the same over TLS. Other parameters are handed to redis-py.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

__all__ = ["Address"]


@dataclass(slots=True, frozen=True)
class Address:
    """`url` is what redis-py takes; `shown` is without credentials, for messages."""

    url: str
    shown: str
    namespace: str
    strict: bool
    cluster: bool

    @classmethod
    def parse(cls, text: str) -> Address:
        """ValueError says what is wrong with the address."""
        parts = urlsplit(text)
        if parts.scheme not in ("redis", "rediss") or not parts.hostname:
            raise ValueError("it must look like redis://host:6379/0")
        options = dict(parse_qsl(parts.query))
        namespace = options.pop("namespace", "nightcrawl")
        check = options.pop("check", "refuse")
        cluster = options.pop("cluster", "0")
        if not namespace or set(namespace) & set("{}* \n"):
            raise ValueError(f"namespace {namespace!r} must be a plain word")
        if check not in ("refuse", "warn"):
            raise ValueError(f"check must be refuse or warn, not {check!r}")
        place = parts.netloc.rpartition("@")[2]
        return cls(
            url=urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(options), "")),
            shown=urlunsplit((parts.scheme, place, parts.path, "", "")),
            namespace=namespace,
            strict=check == "refuse",
            cluster=cluster not in ("", "0"),
        )
