"""Site files as other processes parsed them: a new process over thousands of them starts in a tenth of the time.

Two thirds of reading a site file is parsing its YAML. What came of it, lists and mappings of plain values, is kept in
one file beside the data and taken from there while the site file is the same by size, times and inode. It is never
more than that: every value is validated like one that was just parsed, so nothing damaged, forged or of another version
can bring in what the site file itself could not, and a value that does not pass is read from its file again.

The file has two lines a site file, its name and stamp and its values, both JSON, below a line with the version of the
parser and a digest of the rest. Values stay text until they are asked for, or thousands of them would stand in memory
together, and leave holes there. A file that is damaged, of another version or somebody else's is as good as none. It is
replaced whole; of two processes that write it at once the later one wins, and nothing is lost but time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import time
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, Final

import xxhash
import yaml

from . import yaml_source

__all__ = ["MISSING", "ParsedFiles", "Stamp", "stamp_of"]

log = logging.getLogger(__name__)

#: Size, times of change of the content and of the file, inode.
Stamp = tuple[int, int, int, int]

#: What `ParsedFiles.get` gives for a file it does not know; None is what an empty one parses to.
MISSING: Final = object()

#: A file changed this recently may change once more within the same tick of the file system's clock: not kept. Two
#: seconds is the coarsest tick there is (FAT).
SETTLED_S = 2.0
_KIND = "nightcrawl: site files as parsed"


def stamp_of(found: os.stat_result) -> Stamp:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


@cache
def _version() -> str:
    """Changes with the code that parses: this file's format, the rules of YAML and the library."""
    digest = hashlib.sha256(f"2 {yaml.__version__}".encode())
    digest.update(Path(yaml_source.__file__).read_bytes())
    return digest.hexdigest()[:24]


class ParsedFiles:
    """What is known of site files, read from `path` when made. Costs some 3 us for each file it knows, and 12 for each
    that is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = _load(path)
        self._new: dict[str, tuple[Stamp, bytes]] = {}

    def get(self, file: Path, stamp: Stamp) -> Any:
        """The value of `file` if it is known as it is now, else MISSING."""
        known = self._known.get(str(file.absolute()))
        if known is None or known[0] != stamp:
            return MISSING
        try:
            return json.loads(known[1])
        except (ValueError, RecursionError):
            return MISSING

    def put(self, file: Path, stamp: Stamp, value: Any) -> None:
        """Remember what `file` parsed to, if it is old enough and JSON says exactly the same."""
        if time.time_ns() - max(stamp[1], stamp[2]) < SETTLED_S * 1e9:
            return
        try:
            words = json.dumps(value, separators=(",", ":"))
            same = json.loads(words) == value
        except (TypeError, ValueError, RecursionError):
            return
        if same:
            self._new[str(file.absolute())] = stamp, words.encode()

    def save(self, files: Collection[Path]) -> None:
        """Write what is known of `files`, if there is something new. Where it cannot be written, that is told in the
        log: the next process reads the files again."""
        if not self._new or not self._path.parent.is_dir():
            return
        known = self._known | self._new
        names = [name for file in files if (name := str(file.absolute())) in known]
        body = b"".join(
            json.dumps([name, known[name][0]], separators=(",", ":")).encode()
            + b"\n"
            + known[name][1]
            + b"\n"
            for name in names
        )
        head = json.dumps({"kind": _KIND, "version": _version(), "digest": xxhash.xxh3_128_hexdigest(body)})
        new = self._path.with_name(f".{self._path.name}.{os.getpid()}.new")
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as target:
                target.write(head.encode() + b"\n" + body)
            new.replace(self._path)
        except OSError as error:
            log.warning("%s cannot be written, so site files are parsed again: %s", self._path, error)
            new.unlink(missing_ok=True)
        self._known, self._new = known, {}


def _load(path: Path) -> dict[str, tuple[Stamp, bytes]]:
    """Numbered cases, each of which is as good as no file: 1. none, or it cannot be read; 2. not ours alone to write;
    3. of another version; 4. damaged."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
                return {}
            head, _, body = file.read().partition(b"\n")
    except OSError:
        return {}
    try:
        wanted = {"kind": _KIND, "version": _version(), "digest": xxhash.xxh3_128_hexdigest(body)}
        if json.loads(head) != wanted:
            return {}
        known: dict[str, tuple[Stamp, bytes]] = {}
        lines = iter(body.splitlines())
        for line in lines:
            name, (size, modified, changed, inode) = json.loads(line)
            known[str(name)] = (int(size), int(modified), int(changed), int(inode)), next(lines)
        return known
    except (ValueError, TypeError, RecursionError, StopIteration):
        return {}
