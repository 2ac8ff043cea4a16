"""Where the files of the page store are, and how one is written whole or not at all.

    version                             layout version, a number
    keys/ab/cd/<key>                    the domain folder a URL key belongs to
    domains/ab/<hash of domain>/
        name                            the domain
        lock                            held (flock) by whoever writes to this domain
        heads/<kind>/ab/<key>.json      versions of one URL, newest first
        bodies/ab/<content hash>.zst    one body; its frame names the dictionary it needs
        dictionaries/<number>.dict      zstd dictionaries (`zstd -D`); `current` names the one in use

Every name is made of hexadecimal digits of a hash or a key, so no domain and no URL can name a file outside.

Guarantees: a file is written aside, synced, renamed, and its folder synced: readers see the old or the new
one, after a power loss too. Cost: one sync per file and one per folder of a batch.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import xxhash

from resources.pages.base import PageStoreError

__all__ = ["Batch", "Folders", "explained"]

#: Raise it with every change of the layout.
LAYOUT_VERSION = 1

#: Ends the name of a file that is not complete yet.
ASIDE = ".aside"

#: What may be in a root without a version: another process may be making the store at this moment.
OWN_NAMES = ("version", "keys", "domains")

_numbers = count()


class Folders:
    """Paths below one root."""

    def __init__(self, root: Path, *, read_only: bool = False) -> None:
        self.root = root
        self._read_only = read_only
        marker = root / "version"
        with explained(root):
            if marker.exists():
                version = int(marker.read_text(encoding="ascii"))
                if version > LAYOUT_VERSION:
                    raise PageStoreError(
                        f"page store {root}: its layout version {version} is newer than this program's "
                        f"{LAYOUT_VERSION}; upgrade Nightcrawl, or name another folder"
                    )
            elif read_only:
                raise PageStoreError(
                    f"page store {root}: there is no such store; crawl first, or name another"
                )
            elif root.exists() and any(path.name.split(".")[0] not in OWN_NAMES for path in root.iterdir()):
                raise PageStoreError(
                    f"page store {root}: the folder holds other files; name an empty or a new one"
                )
            else:
                batch = Batch()
                batch.write(marker, f"{LAYOUT_VERSION}\n".encode())
                batch.sync()

    def domain(self, name: str) -> Path:
        digest = xxhash.xxh3_128_hexdigest(name.encode("utf-8", "surrogatepass"))
        return self.root / "domains" / digest[:2] / digest

    def pointer(self, key: bytes) -> Path:
        text = key.hex()
        return self.root / "keys" / text[:2] / text[2:4] / text

    def all_domains(self) -> Iterator[Path]:
        for name in sorted(self.root.glob("domains/*/*/name")):
            if not name.parent.name.endswith(ASIDE):
                yield name.parent

    @contextmanager
    def locked(self, domain: str) -> Iterator[Path]:
        """The domain's folder, made if need be, with nobody else writing to it."""
        if self._read_only:
            raise PageStoreError(
                f"page store {self.root}: it was opened read-only; open it for writing to change it"
            )
        folder = self.domain(domain)
        while True:
            # `remove` may take the folder from under us at any moment: then we begin again.
            try:
                batch = Batch()
                batch.folder(folder)
                if not (folder / "name").exists():
                    batch.write(folder / "name", domain.encode("utf-8", "surrogatepass"))
                batch.sync()
                lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except FileNotFoundError:
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if self._same(folder / "lock", lock):
                    yield folder
                    return
            finally:
                os.close(lock)

    @staticmethod
    def _same(path: Path, descriptor: int) -> bool:
        try:
            return path.stat().st_ino == os.fstat(descriptor).st_ino
        except FileNotFoundError:
            return False

    def remove(self, folder: Path) -> Path:
        """Take a domain's folder out of the store at one stroke; returns where it lies, to be deleted."""
        aside = folder.with_name(f"{folder.name}.{os.getpid()}.{next(_numbers)}{ASIDE}")
        folder.rename(aside)
        batch = Batch()
        batch.changed(folder.parent)
        batch.sync()
        return aside


class Batch:
    """Files written together: `sync` makes all of them durable."""

    def __init__(self) -> None:
        self._changed: set[Path] = set()

    def changed(self, folder: Path) -> None:
        """Note that names in a folder were changed by other means."""
        self._changed.add(folder)

    def folder(self, path: Path) -> None:
        """Make a folder and those above it."""
        if not path.is_dir():
            self.folder(path.parent)
            path.mkdir(exist_ok=True)
            self._changed.add(path.parent)

    def write(self, path: Path, data: bytes) -> None:
        self.folder(path.parent)
        aside = path.with_name(f"{path.name}.{os.getpid()}.{next(_numbers)}{ASIDE}")
        try:
            with aside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        except OSError:
            aside.unlink(missing_ok=True)
            raise
        self._changed.add(path.parent)

    def sync(self) -> None:
        for path in self._changed:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        self._changed.clear()


@contextmanager
def explained(root: Path) -> Iterator[None]:
    """Turn the system's errors into ours: where, what, and what to do."""
    try:
        yield
    except OSError as error:
        advice = {
            errno.ENOSPC: "the disk is full; nothing was lost: make room and go on",
            errno.EDQUOT: "the disk quota is used up; nothing was lost: make room and go on",
            errno.EACCES: "access was denied; check its owner and its mode",
            errno.EPERM: "access was denied; check its owner and its mode",
            errno.EROFS: "the file system is mounted read-only; remount it, or name another folder",
            errno.ENOTDIR: "a file stands where a folder is needed; name another folder",
            errno.EEXIST: "a file stands where a folder is needed; name another folder",
            errno.EMFILE: "too many open files; raise the limit (ulimit -n)",
            errno.EIO: "reading or writing failed; check the disk and the system log, then run again",
        }.get(error.errno or 0, "the operation failed")
        raise PageStoreError(f"page store {root}: {advice} ({error})") from error
