"""A real nginx with `limit_req` on a free loopback port, as a user without privileges."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .cases import Case

__all__ = ["free_port", "limiting_nginx"]

# A refused request is answered from a location of its own: that is where a header can be added to it alone.
_CONFIG = """
daemon off;
worker_processes 1;
pid {work}/nginx.pid;
error_log {work}/error.log crit;
events {{ worker_connections 1024; }}
http {{
    types {{ text/html html; }}
    default_type text/html;
    log_format seen '$msec $request_time $status $request_uri';
    access_log {log} seen buffer=32k flush=500ms;
    client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fcgi;
    uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
    keepalive_requests 100000;
    limit_req_zone $binary_remote_addr zone=each:1m rate={rate:g}r/s;
    limit_req_status {status};
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        root {root};
        error_page {status} @refused;
        location / {{ limit_req zone=each burst={burst}{nodelay}; }}
        location @refused {{ {header} return {status}; }}
    }}
}}
"""


def free_port() -> int:
    """A loopback port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def limiting_nginx(case: Case, root: Path, work: Path, log: Path) -> Iterator[int]:
    """Run it while the block runs; yields its port. Raises RuntimeError if nginx is missing or does not start."""
    binary = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if binary is None:
        raise RuntimeError("nginx is needed for this benchmark: apt-get install nginx-light")
    work.mkdir(parents=True, exist_ok=True)
    port = free_port()
    (work / "nginx.conf").write_text(
        _CONFIG.format(
            work=work, log=log, root=root, port=port, rate=case.permitted, burst=case.burst, status=case.status,
            nodelay=" nodelay" if case.nodelay else "",
            header='add_header Retry-After 1 always;' if case.retry_after else "",
        )
    )  # fmt: skip
    process = subprocess.Popen(
        [binary, "-p", str(work), "-e", str(work / "error.log"), "-c", str(work / "nginx.conf")]
    )
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if process.poll() is not None:
                raise RuntimeError("nginx did not start: see error.log in its folder") from None
            time.sleep(0.05)
    raise RuntimeError(f"nginx does not listen on port {port}")
