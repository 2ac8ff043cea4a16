"""The Debian packages whose pages are crawled: about 5,400, with broken links, odd encodings and huge pages."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PACKAGES", "DocPackage", "install", "missing"]


@dataclass(frozen=True, slots=True)
class DocPackage:
    """One package: each is a domain of its own, on its own loopback address."""

    name: str
    folder: Path
    front: str
    address: str

    @property
    def domain(self) -> str:
        return f"{self.address}:{PORT}"

    @property
    def seed(self) -> str:
        return f"http://{self.domain}{self.front}"


#: One run at a time owns the addresses with this port; another run chooses another.
PORT = int(os.environ.get("NIGHTCRAWL_BENCH_PORT", "8080"))
PACKAGES = (
    DocPackage("python3.11-doc", Path("/usr/share/doc/python3.11/html"), "/index.html", "127.0.0.2"),
    DocPackage(
        "postgresql-doc-15", Path("/usr/share/doc/postgresql-doc-15/html"), "/index.html", "127.0.0.3"
    ),
    DocPackage(
        "python-django-doc", Path("/usr/share/doc/python-django-doc/html"), "/index.html", "127.0.0.4"
    ),
    DocPackage("sqlite3-doc", Path("/usr/share/doc/sqlite3"), "/index.html", "127.0.0.5"),
    DocPackage("qtbase5-doc-html", Path("/usr/share/qt5/doc"), "/qtcore/qtcore-index.html", "127.0.0.6"),
)


def missing() -> list[str]:
    """Packages (and nginx) that are not installed."""
    absent = [p.name for p in PACKAGES if not (p.folder / p.front.lstrip("/")).is_file()]
    if not Path("/usr/sbin/nginx").exists():
        absent.append("nginx-light")
    return absent


def install() -> None:
    """Install what is missing; needs root."""
    wanted = missing()
    if wanted:
        subprocess.run(["apt-get", "update", "-q"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *wanted], check=True)
