"""A connection that runs batches of scripts and commands, one round trip a batch.

Nothing is tried again here: a script may have run although its answer was lost. Every script can be run
again safely, and whoever called decides how long to wait. After any failure `epoch` is another number: what a
caller remembers of the server's contents may be gone with the last second before a crash.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.retry import Retry

from resources.shared_redis import settings
from resources.shared_redis.address import Address
from resources.shared_redis.scripts import Script

__all__ = ["Call", "Connection"]

log = logging.getLogger(__name__)

#: Stalls (a fork for the append-only file, a slow disk, a paused machine) are waited for up to this long.
ANSWER_S = 30.0
CONNECT_S = 5.0

#: A script with its keys and arguments, or the words of a command, of which the second is its key.
Call = tuple[Script, tuple[bytes, ...], Sequence[Any]] | tuple[Any, ...]


class Connection:
    """`error` and `full` are the exceptions of whoever uses it. Used by one thread at a time."""

    def __init__(
        self, address: str, scripts: Sequence[Script], error: type[Exception], full: type[Exception]
    ) -> None:
        self._error, self._full = error, full
        try:
            self.address = Address.parse(address)
        except ValueError as wrong:
            raise error(f"{address.partition('?')[0].rpartition('@')[2]}: {wrong}") from None
        self.namespace = self.address.namespace.encode()
        self.epoch = 0
        #: Round trips so far.
        self.trips = 0
        self._scripts = {script.sha: script for script in scripts}
        options: dict[str, Any] = {
            "socket_timeout": ANSWER_S, "socket_connect_timeout": CONNECT_S, "protocol": 2,
            "client_name": "nightcrawl",
        }  # fmt: skip
        try:
            # redis-py's cluster classes are not annotated throughout.
            self._cluster: Any = None
            self._client: redis.Redis | None = None
            if self.address.cluster:
                self._cluster = RedisCluster.from_url(self.address.url, **options)
            else:
                self._client = redis.Redis.from_url(self.address.url, retry=Retry(NoBackoff(), 0), **options)
            self._check()
            self._load(self._scripts.values())
        except redis.RedisError as wrong:
            raise self._explained(wrong) from wrong

    def __repr__(self) -> str:
        return f"<Connection {self.address.shown} {self.address.namespace}>"

    def _nodes(self) -> list[redis.Redis]:
        if self._client is not None:
            return [self._client]
        return [node.redis_connection for node in self._cluster.get_primaries()]

    def _check(self) -> None:
        for node in self._nodes():
            found = settings.problems(node)
            if found and self.address.strict:
                raise self._error(f"{self.address.shown}: " + "; ".join(found))
            advice = settings.prefer_flat_hashes(node)
            for problem in [*found, *([advice] if advice else [])]:
                log.warning("%s: %s", self.address.shown, problem)

    def _load(self, scripts: Any) -> None:
        for node in self._nodes():
            pipeline = node.pipeline(transaction=False)
            for script in scripts:
                pipeline.script_load(script.source)
            pipeline.execute()

    # -- running ---------------------------------------------------------------------------------
    def run(self, calls: Sequence[Call]) -> list[Any]:
        """The replies, in order. Raises the user's errors; some calls may have had their effect by then."""
        if not calls:
            return []
        try:
            replies = self._send(calls)
            lost = [
                at for at, reply in enumerate(replies) if isinstance(reply, redis.exceptions.NoScriptError)
            ]
            if lost:  # a restart or SCRIPT FLUSH forgot them
                self.epoch += 1
                self._load(self._scripts.values())
                for at, reply in zip(lost, self._send([calls[at] for at in lost]), strict=True):
                    replies[at] = reply
        except redis.RedisError as wrong:
            self.epoch += 1
            raise self._explained(wrong) from wrong
        for reply in replies:
            if isinstance(reply, Exception):
                self.epoch += 1
                raise self._explained(reply) from reply
        return replies

    def one(self, *call: Any) -> Any:
        """The reply to one call: a script with keys and arguments, or the words of a command."""
        return self.run([call])[0]

    def _send(self, calls: Sequence[Call]) -> list[Any]:
        self.trips += 1
        if self._client is not None:
            return _pipeline(self._client, calls)
        # Each shard its own batch; within a shard in order.
        replies: list[Any] = [None] * len(calls)
        by_node: dict[str, tuple[redis.Redis, list[int]]] = {}
        for at, call in enumerate(calls):
            node = self._cluster.get_node_from_key(call[1][0] if isinstance(call[0], Script) else call[1])
            by_node.setdefault(node.name, (node.redis_connection, []))[1].append(at)
        for client, places in by_node.values():
            for at, reply in zip(places, _pipeline(client, [calls[at] for at in places]), strict=True):
                replies[at] = reply
        if any(
            isinstance(reply, redis.exceptions.MovedError | redis.exceptions.AskError) for reply in replies
        ):
            self._cluster.nodes_manager.initialize()
        return replies

    def _explained(self, wrong: Exception) -> Exception:
        where = self.address.shown
        text = str(wrong)
        # 1. memory or disk is full; 2. it is starting; 3. it does not answer; 4. anything else
        if isinstance(wrong, redis.exceptions.OutOfMemoryError):
            return self._full(f"{where}: its memory is full; nothing was lost: raise maxmemory or make room")
        if text.startswith("MISCONF") or "No space left" in text:
            return self._full(
                f"{where}: it cannot write its files; nothing was lost: make room on its disk ({text})"
            )
        if isinstance(wrong, redis.exceptions.BusyLoadingError):
            return self._error(f"{where}: it is reading its files after a restart; wait a moment")
        if isinstance(wrong, redis.exceptions.ConnectionError | redis.exceptions.TimeoutError):
            return self._error(
                f"{where}: it does not answer ({text}); see that the server runs and can be reached"
            )
        return self._error(f"{where}: {text}")

    def close(self) -> None:
        for node in (self._cluster, self._client):
            if node is not None:
                node.close()


def _pipeline(client: redis.Redis, calls: Sequence[Call]) -> list[Any]:
    pipeline: Any = client.pipeline(transaction=False)
    for call in calls:
        if isinstance(call[0], Script):
            script, keys, arguments = call
            pipeline.execute_command("EVALSHA", script.sha, len(keys), *keys, *arguments)
        else:
            pipeline.execute_command(*call)
    return list(pipeline.execute(raise_on_error=False))
