"""A run that lives says so in Redis every few seconds; one that stays silent is lost.

One key a run, `nightcrawl:run:<id>`, that expires by itself. The worker writes it from a thread beside the run, so
it ends with the process however that ends: kill -9, a lost machine, a lost network. Cost: one SET every
`BEAT_S` a run.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from dataclasses import dataclass

import redis

__all__ = ["Sign", "SignsOfLife", "beating"]

log = logging.getLogger(__name__)

BEAT_S = 3.0
#: Four beats may be lost before a run counts as dead: a busy core or a short stall must not cost a run.
EXPIRES_S = 15
#: A server that started later than that may not have heard from everybody yet.
SETTLED_S = 2 * EXPIRES_S
#: Whoever asks or beats must not hang on a server that does not answer.
ANSWER_S = 5.0


@dataclass(frozen=True, slots=True)
class Sign:
    """Where a run lives. `at`: epoch seconds of the last beat."""

    host: str
    pid: int
    at: float


class SignsOfLife:
    """`address`: redis:// or rediss://. Any thread may use it."""

    def __init__(self, address: str) -> None:
        self._client = redis.Redis.from_url(address, socket_timeout=ANSWER_S, socket_connect_timeout=ANSWER_S)

    @staticmethod
    def key(run_id: str) -> str:
        return f"nightcrawl:run:{run_id}"

    def give(self, run_id: str) -> None:
        sign = {"host": socket.gethostname(), "pid": os.getpid(), "at": time.time()}
        self._client.set(self.key(run_id), json.dumps(sign), ex=EXPIRES_S)

    def of(self, run_id: str) -> Sign | None:
        """The last sign, None if it is too long ago. redis.RedisError when the server cannot be asked."""
        raw = self._client.get(self.key(run_id))
        return None if raw is None else Sign(**json.loads(raw))

    def end(self, run_id: str) -> None:
        self._client.delete(self.key(run_id))

    def settled(self) -> bool:
        """Whether silence means something: a server that has just come back knows nobody yet."""
        return int(dict(self._client.info("server"))["uptime_in_seconds"]) >= SETTLED_S

    def close(self) -> None:
        self._client.close()


class beating:
    """While the block runs, a thread gives signs of the run. The first is given before the block begins."""

    def __init__(self, address: str, run_id: str) -> None:
        self._signs = SignsOfLife(address)
        self._run_id = run_id
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="nightcrawl-run-beat", daemon=True)

    def __enter__(self) -> None:
        self._give()
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        try:
            self._signs.end(self._run_id)
        except redis.RedisError as error:
            log.warning("the sign of run %s stays until it expires: %s", self._run_id, error)
        self._signs.close()

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            self._give()

    def _give(self) -> None:
        try:
            self._signs.give(self._run_id)
        except redis.RedisError as error:
            log.warning("no sign of life of run %s could be given: %s", self._run_id, error)
