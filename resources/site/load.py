"""Reads site files. All problems of all files are collected and told at once: file, line, field, fix.

Files that are as they were are not parsed again: within a process nothing is done anew, and a new process takes the
values of many files from what others parsed (parsed_files.py), and validates them as always.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .model import Site, normal_domain
from .parsed_files import MISSING, ParsedFiles, Stamp, stamp_of
from .problems import Problem, SiteFileError, problems_of
from .seeds import seed_problems
from .yaml_source import Document, YamlError, read_yaml

__all__ = [
    "Problem",
    "SiteFileError",
    "load_site",
    "load_site_text",
    "load_sites",
    "read_sites",
    "site_paths",
]

#: A site file is configuration: anything larger is a mistake, and reading it would hold up every command.
MAX_FILE_BYTES = 1_000_000
#: So many files to parse, some 50 ms, are worth looking for what other processes made of them.
WORTH_REMEMBERING = 50


@dataclass(slots=True)
class _Read:
    """One file as far as it could be read. `document` is not kept for good files: thousands of them are remembered."""

    file: str
    site: Site | None = None
    problems: list[Problem] = field(default_factory=list)
    document: Document | None = None

    def complain(self, message: str, *path: str | int) -> None:
        if self.document is None:
            self.document = _document_again(self.file)
        name = ".".join(str(p) for p in path if isinstance(p, str))
        index = "".join(f"[{p}]" for p in path if isinstance(p, int))
        self.problems.append(Problem(self.file, self.document.line(path), name + index, message))


def load_site_text(text: str, file: str, folder: Path | None = None) -> tuple[Site | None, list[Problem]]:
    """One site from YAML text. `file` names it in problems; `folder` is where `@files` of seeds are looked up."""
    read = _parse(text, file, folder)
    return (None if read.problems else read.site), read.problems


def load_site(path: Path) -> Site:
    """One site file; SiteFileError lists all its problems."""
    (read,) = _read_all([path], None)
    if read.site is None or read.problems:
        raise SiteFileError(read.problems)
    return read.site


def site_paths(place: Path) -> list[Path]:
    """The site files of a folder, by name (hidden ones are not), or the one file that `place` is."""
    if place.is_file():
        return [place]
    found = [*place.glob("*.yaml"), *place.glob("*.yml")]
    return sorted(path for path in found if not path.name.startswith("."))


def read_sites(*places: Path, parsed: Path | None = None) -> tuple[list[Site], list[Problem]]:
    """The sites that can be used, by file name, and every problem of every file. Of two files that claim one
    domain or name the first is good. `parsed`: where processes leave each other what they parsed."""
    reads = _read_all([path for place in places for path in site_paths(place)], parsed)
    _unique_names(reads)
    _unique_domains(reads)
    problems = [p for read in reads for p in sorted(read.problems, key=lambda p: p.line)]
    return [read.site for read in reads if read.site is not None and not read.problems], problems


def load_sites(*places: Path, parsed: Path | None = None) -> list[Site]:
    """All site files of some folders or files, by name. SiteFileError lists every problem of every file."""
    sites, problems = read_sites(*places, parsed=parsed)
    if problems:
        raise SiteFileError(problems)
    return sites


# -- one file ----------------------------------------------------------------------------------------
#: Files as this process read them last. Of thousands of site files one changes at a time, and a daemon looks at them
#: all day.
_known: dict[Path, tuple[Stamp, _Read]] = {}


def _read_all(paths: list[Path], parsed: Path | None) -> list[_Read]:
    """The files in their order: from this process's memory, from what others parsed, or read."""
    stamps = [_stamp(path) for path in paths]
    missing = sum(
        stamp is None or _from_memory(path, stamp) is None for path, stamp in zip(paths, stamps, strict=True)
    )
    if missing >= WORTH_REMEMBERING:
        with _nothing_collected():
            others = ParsedFiles(parsed) if parsed is not None else None
            reads = [_read(path, stamp, others) for path, stamp in zip(paths, stamps, strict=True)]
            if others is not None:
                others.save(paths)
    else:
        reads = [_read(path, stamp, None) for path, stamp in zip(paths, stamps, strict=True)]
    return [replace(read, problems=list(read.problems)) for read in reads]


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Hundreds of thousands of objects come to stay here; looking through them for garbage would be half the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _stamp(path: Path) -> Stamp | None:
    """None: it cannot be looked at, and reading it will say why."""
    try:
        return stamp_of(path.stat())
    except OSError:
        return None


def _from_memory(path: Path, stamp: Stamp) -> _Read | None:
    known = _known.get(path)
    return known[1] if known is not None and known[0] == stamp else None


def _read(path: Path, stamp: Stamp | None, others: ParsedFiles | None) -> _Read:
    """Numbered cases: 1. it is as this process read it; 2. as another one parsed it, and good; 3. it is read.

    A file that names files of seeds is looked at each time: those change by themselves.
    """
    if stamp is None:
        return _read_file(path)
    if (read := _from_memory(path, stamp)) is not None:
        return read
    value = others.get(path, stamp) if others is not None else MISSING
    if value is not MISSING:
        read = _Read(str(path), document=Document(value, {}))
        _understand(read, path.parent)
    if read is None or read.problems:
        read = _read_file(path)
        if others is not None and read.site is not None and read.document is not None:
            others.put(path, stamp, read.document.value)
    value = read.document.value if read.document is not None else None
    if not (isinstance(value, dict) and "@" in str(value.get("seeds"))):
        _known[path] = stamp, read
    if read.site is not None:
        read.document = None
    return read


def _document_again(file: str) -> Document:
    """For the lines of a file that was good by itself; without any if it has gone or changed meanwhile."""
    return _read_file(Path(file)).document or Document(None, {})


def _read_file(path: Path) -> _Read:
    """Numbered cases: 1. too large; 2. cannot be read; 3. not UTF-8; 4. text, which is parsed."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            message = f"larger than {MAX_FILE_BYTES:,} bytes: put seeds into a file of URLs (@urls.txt)"
            return _Read(str(path), problems=[Problem(str(path), 0, "", message)])
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        return _Read(str(path), problems=[Problem(str(path), 0, "", f"cannot be read: {error.strerror}")])
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        return _Read(
            str(path),
            problems=[Problem(str(path), line, "", f"is not UTF-8 (byte {error.start}): save it as UTF-8")],
        )
    return _parse(text, str(path), path.parent)


def _parse(text: str, file: str, folder: Path | None) -> _Read:
    read = _Read(file, document=Document(None, {}))
    try:
        read.document = read_yaml(text)
    except YamlError as error:
        read.problems.append(Problem(file, error.line, "", f"not valid YAML: {error}"))
        return read
    _understand(read, folder)
    return read


def _understand(read: _Read, folder: Path | None) -> None:
    """From the parsed document to the site, or to problems."""
    value = read.document.value if read.document is not None else None
    if not isinstance(value, dict):
        read.complain("a site file is keys and values: begin with 'domains: [shop.example]'")
        return
    value = {"name": default_name(read.file)} | {str(key): entry for key, entry in value.items()}
    site = _validate(value, read)
    if site is not None:
        for index, message in seed_problems(site.seeds, folder, site.covers):
            read.complain(message, "seeds", index)
    read.site = site if not read.problems else None


def default_name(file: str) -> str:
    """The site's name when it gives none: the file's, in the letters a name may have."""
    slug = re.sub(r"[^a-z0-9_-]+", "-", Path(file).stem.lower()).strip("-")[:60]
    return slug if slug[:1].isalpha() else f"site-{slug}".rstrip("-")


def _validate(value: dict[str, Any], read: _Read) -> Site | None:
    """Add what is wrong to `problems`; the site, without the keys that are wrong.

    pydantic looks at rules over several keys only when each key is right: so that those are told too, keys
    with problems are left out and the rest is looked at again.
    """
    left = dict(value)
    while True:
        try:
            return Site.model_validate(left)
        except ValidationError as error:
            found = problems_of(error, read.document or Document(None, {}), read.file, Site)
        new = [problem for problem in found if problem not in read.problems]
        read.problems += new
        wrong = {re.split(r"[.\[]", problem.field)[0] for problem in new}
        if not wrong:
            return None
        for key in wrong:
            left.pop(key, None)
        if "name" in wrong:
            left["name"] = "unnamed"
        if "identity" in wrong:
            left["identity"] = {"contact": "https://placeholder.example/"}  # told already
        if "domains" in wrong:
            left["domains"] = _usable(value.get("domains")) or ["placeholder.example"]
            left.pop("canaries", None)  # they and the seeds may be on a domain that is misspelt
            left.pop("seeds", None)


def _usable(listed: object) -> list[str]:
    found: dict[str, None] = {}
    for text in listed if isinstance(listed, list) else ():
        try:
            found[normal_domain(text)] = None
        except (ValueError, AttributeError):
            continue  # it is among the problems
    return list(found)


# -- all files together ------------------------------------------------------------------------------
def _unique_names(reads: list[_Read]) -> None:
    owner: dict[str, str] = {}
    for read in reads:
        if read.site is None:
            continue
        if (first := owner.setdefault(read.site.name, read.file)) != read.file:
            read.complain(f"{read.site.name!r} is also the name of {first}: rename one of them", "name")


def _unique_domains(reads: list[_Read]) -> None:
    owner: dict[str, str] = {}
    for read in reads:
        for index, domain in enumerate(_domains_of(read)):
            if (first := owner.setdefault(domain, read.file)) != read.file:
                read.complain(f"{domain!r} is also covered by {first}: remove it from one", "domains", index)


def _domains_of(read: _Read) -> tuple[str, ...]:
    """Normal forms, also of a file that is wrong elsewhere."""
    if read.site is not None:
        return read.site.domains
    value = read.document.value if read.document is not None else None
    return tuple(_usable(value.get("domains"))) if isinstance(value, dict) else ()
