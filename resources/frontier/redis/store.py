"""What all parts of the package stand on: the connection, the scripts, and the names of keys.

Keys of a domain are `<namespace>:{<domain>}:…`, keys of the installation `<namespace>:{<namespace>}:…`: the
braces are Redis Cluster's hash tag, so that each domain lives on one shard and scripts stay within one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from resources.frontier.base import FrontierError, FrontierFull
from resources.shared_redis.connection import Call, Connection
from resources.shared_redis.scripts import Script, read_script

__all__ = ["BUCKETS", "CHUNK", "SCRIPTS", "Store"]

SCRIPTS: dict[str, Script] = {
    path.stem: script
    for path in sorted((Path(__file__).parent / "lua").glob("*.lua"))
    if (script := read_script(path)).source.startswith("#!lua")
}

#: Rows one script call touches: a few milliseconds of the server's time, which everybody else waits for.
CHUNK = 500
#: Buckets (of some 60 rows) one script call walks.
BUCKETS = 16


class Store:
    """See the module docstring."""

    def __init__(self, address: str) -> None:
        self.connection = Connection(address, list(SCRIPTS.values()), FrontierError, FrontierFull)
        self._namespace = self.connection.namespace
        #: Domains by the token prefix of claim calls whose answer did not come.
        self.unsure: dict[bytes, str] = {}
        #: Domains a worker had claims of when its leases were last renewed.
        self.renewed: dict[str, frozenset[str]] = {}
        self._registered: set[bytes] = set()
        self._epoch = self.connection.epoch

    def name(self, words: str) -> bytes:
        return words.encode("utf-8", "surrogatepass")

    def meta(self, domain: str) -> bytes:
        """The key of a domain's hash: what its scripts are called with."""
        return b"%s:{%s}:m" % (self._namespace, self.name(domain))

    def own(self, domain: str, part: str) -> bytes:
        """Another key of the domain."""
        return b"%s:{%s}:%s" % (self._namespace, self.name(domain), part.encode())

    def common(self, part: str) -> bytes:
        """A key of the whole installation."""
        return b"%s:{%s}:%s" % (self._namespace, self._namespace, part.encode())

    def on(self, script: str, domain: str, *arguments: Any) -> Call:
        """A call of a domain's script."""
        return (SCRIPTS[script], (self.meta(domain),), arguments)

    def run(self, calls: list[Call]) -> list[Any]:
        return self.connection.run(calls)

    def repeat(self, script: str, domain: str, *arguments: Any, chunk: int = CHUNK) -> int:
        """Call a script that handles up to `chunk` rows until it finds fewer; the sum of its replies."""
        total = 0
        while True:
            done: int = self.run([self.on(script, domain, *arguments, chunk)])[0]
            total += done
            if done < chunk:
                return total

    def walk(self, script: str, domain: str) -> int:
        """Call a script that walks buckets and replies (count, where to go on), to the end; the sum."""
        total, at = 0, b"0"
        while at:
            (count, at) = self.run([self.on(script, domain, at, BUCKETS)])[0]
            total += int(count)
        return total

    # -- the list of domains -----------------------------------------------------------------------
    def registering(self, domains: Iterable[str]) -> list[Call]:
        """What puts these domains on the list of domains: to go ahead of whatever creates them.

        Remembered only by `registered`, once the server has answered, and only as long as nothing failed.
        """
        if self._epoch != self.connection.epoch:
            self._registered.clear()
            self._epoch = self.connection.epoch
        new = [name for domain in domains if (name := self.name(domain)) not in self._registered]
        return [("SADD", self.common("domains"), *new)] if new else []

    def registered(self, domains: Iterable[str]) -> None:
        self._registered.update(map(self.name, domains))

    def domains(self) -> list[str]:
        """Every domain that was ever met, by name."""
        names: set[bytes] = self.connection.one("SMEMBERS", self.common("domains"))
        return sorted(name.decode("utf-8", "surrogatepass") for name in names)
