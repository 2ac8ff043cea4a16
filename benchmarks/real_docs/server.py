"""nginx on loopback: one address a package, no privileges needed, everything below a temporary folder."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .packages import PACKAGES, PORT, DocPackage

__all__ = ["request_log", "serve"]

_SERVER = """
    server {{
        listen {address}:{port} backlog=1024;
        root {root};
        index index.html;
        absolute_redirect off;
    }}
"""
_CONFIG = """
{user}
daemon off;
worker_processes {workers};
pid {work}/nginx.pid;
error_log {work}/error.log error;
events {{ worker_connections 4096; }}
http {{
    types {{ text/html html htm; text/css css; text/plain txt; text/xml xml; application/javascript js;
            image/png png; image/gif gif; image/jpeg jpg jpeg; image/svg+xml svg; }}
    default_type application/octet-stream;
    log_format urls '$server_addr $status $request_uri';
    access_log {work}/access.log urls buffer=64k flush=1s;
    client_body_temp_path {work}/body; proxy_temp_path {work}/proxy; fastcgi_temp_path {work}/fcgi;
    uwsgi_temp_path {work}/uwsgi; scgi_temp_path {work}/scgi;
    sendfile on; tcp_nopush on; keepalive_requests 100000; keepalive_timeout 65;
    gzip {gzip}; gzip_comp_level 1; gzip_types text/plain text/css;
    {servers}
}}
"""


@contextmanager
def serve(
    work: Path, *, gzip: bool = False, packages: Sequence[DocPackage] = PACKAGES, workers: int = 1
) -> Iterator[Path]:
    """Run nginx over the packages while the block runs; yields its access log.

    RuntimeError if it cannot start, as when another server has an address.
    """
    work.mkdir(parents=True, exist_ok=True)
    log = work / "access.log"
    started = work / "nginx.pid"
    for old in (log, started):
        old.unlink(missing_ok=True)
    servers = "".join(_SERVER.format(address=p.address, port=PORT, root=p.folder) for p in packages)
    config = work / "nginx.conf"
    config.write_text(
        _CONFIG.format(
            work=work, servers=servers, gzip="on" if gzip else "off", workers=workers,
            # Started by root it would serve as nobody, who may not enter root's temporary folders.
            user="user root;" if os.geteuid() == 0 else "",
        )
    )  # fmt: skip
    process = subprocess.Popen(
        ["/usr/sbin/nginx", "-p", str(work), "-e", str(work / "error.log"), "-c", str(config)]
    )
    try:
        # It is written once all addresses are bound: an answer alone may come from another server on them.
        while not started.exists():
            if process.poll() is not None:
                raise RuntimeError(f"nginx did not start: see {work}/error.log")
            time.sleep(0.05)
        urllib.request.urlopen(packages[0].seed, timeout=10).close()
        yield log
    finally:
        process.terminate()
        process.wait(10)


def request_log(log: Path) -> list[tuple[str, int, str]]:
    """(URL, status, path) of every request nginx answered."""
    rows = []
    for line in log.read_text(errors="replace").splitlines():
        address, status, path = line.split(" ", 2)
        rows.append((f"http://{address}:{PORT}{path}", int(status), path))
    return rows
