"""Reads site files. All problems of all files are collected and told at once: file, line, field, fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from .model import Site
from .seeds import SeedError, expand_seeds

__all__ = ["Problem", "SiteFileError", "load_site", "load_site_text", "load_sites"]

#: A site file is configuration: anything larger is a mistake, and YAML aliases could multiply it.
MAX_FILE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend, where it stands and how."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.field + ': ' if self.field else ''}{self.message}"


class SiteFileError(Exception):
    """Site files that cannot be used; `problems` lists everything that is wrong with them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(p) for p in problems))


class _Loader(yaml.SafeLoader):
    """SafeLoader without aliases (no alias bombs) that refuses a key given twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            event: yaml.Event = self.get_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(
                None,
                None,
                "aliases (*name) are not allowed in a site file",
                event.start_mark,  # type: ignore[arg-type]
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = str(getattr(key_node, "value", ""))
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def _lines(node: yaml.Node | None, path: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], int]:
    """Line (1-based) of every value by its path."""
    if node is None:
        return {}
    found = {path: node.start_mark.line + 1}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            sub = (*path, str(key.value))
            found.update(_lines(value, sub))
            found[sub] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            found.update(_lines(value, (*path, i)))
    return found


def _known_keys(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """The keys allowed beside an unknown one, for a suggestion."""
    current: Any = model
    for part in path:
        if not (isinstance(current, type) and issubclass(current, BaseModel)):
            return []
        field = current.model_fields.get(str(part))
        if field is None:
            return []
        args = [field.annotation, *getattr(field.annotation, "__args__", ())]
        current = next((a for a in args if isinstance(a, type) and issubclass(a, BaseModel)), None)
    return list(current.model_fields) if isinstance(current, type) and issubclass(current, BaseModel) else []


def _explain(error: Mapping[str, Any]) -> str:
    kind, path = error["type"], error["loc"]
    if kind == "extra_forbidden":
        known = _known_keys(Site, path[:-1])
        close = difflib.get_close_matches(str(path[-1]), known, n=1)
        hint = (
            f"; did you mean {close[0]!r}?"
            if close
            else (f"; known: {', '.join(sorted(known))}" if known else "")
        )
        return f"unknown key{hint}"
    if kind == "missing":
        return "is required"
    message = str(error["msg"]).removeprefix("Value error, ")
    if kind in ("value_error", "assertion_error"):
        return message
    shown = repr(error.get("input"))
    return f"{message} (found {shown[:80]})"


def _field(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def load_site_text(text: str, file: str, folder: Path | None = None) -> tuple[Site | None, list[Problem]]:
    """One site from YAML text. `file` names it in problems; `folder` is where `@files` of seeds are looked up."""
    try:
        node = yaml.compose(text, Loader=_Loader)
        value = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        return None, [Problem(file, mark.line + 1 if mark else 0, "", f"not valid YAML: {error.problem}")]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return None, [Problem(file, 0, "", f"not valid YAML: {str(error).splitlines()[0]}")]
    if not isinstance(value, dict):
        return None, [Problem(file, 1, "", "a site file is a mapping: start with 'domains: [shop.example]'")]
    lines = _lines(node)

    def line_of(path: Sequence[str | int]) -> int:
        for end in range(len(path), -1, -1):
            if (found := lines.get(tuple(path[:end]))) is not None:
                return found
        return 1

    value.setdefault("name", Path(file).stem.lower())
    try:
        site = Site.model_validate(value)
    except ValidationError as error:
        problems = []
        for item in error.errors():
            # Unions add their member's name to the path; only keys of the document count.
            path = [
                p
                for i, p in enumerate(item["loc"])
                if tuple(item["loc"][: i + 1]) in lines or i == len(item["loc"]) - 1
            ]
            problems.append(Problem(file, line_of(path), _field(path), _explain(item)))
        return None, list(dict.fromkeys(problems))
    try:
        expand_seeds(site.seeds, folder, check_only=True)
    except SeedError as error:
        return None, [Problem(file, line_of(["seeds", error.index]), f"seeds[{error.index}]", str(error))]
    return site, []


def load_site(path: Path) -> Site:
    """One site file; SiteFileError lists all its problems."""
    site, problems = _read(path)
    if site is None:
        raise SiteFileError(problems)
    return site


def _read(path: Path) -> tuple[Site | None, list[Problem]]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return None, [
                Problem(
                    str(path),
                    0,
                    "",
                    f"larger than {MAX_FILE_BYTES:,} bytes; put seeds into a file of URLs (@urls.txt)",
                )
            ]
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        return None, [Problem(str(path), 0, "", f"cannot be read: {error.strerror}")]
    except UnicodeDecodeError as error:
        return None, [Problem(str(path), 0, "", f"is not UTF-8 (byte {error.start}); save it as UTF-8")]
    return load_site_text(text, str(path), path.parent)


def load_sites(folder: Path) -> list[Site]:
    """All `*.yaml` and `*.yml` of a folder, by name. SiteFileError lists every problem of every file."""
    sites: list[Site] = []
    problems: list[Problem] = []
    owner: dict[str, str] = {}
    names: dict[str, str] = {}
    for path in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        site, found = _read(path)
        problems += found
        if site is None:
            continue
        if site.name in names:
            problems.append(
                Problem(str(path), 0, "name", f"{site.name!r} is also the name of {names[site.name]}")
            )
        names[site.name] = str(path)
        for domain in site.domains:
            if domain in owner:
                problems.append(
                    Problem(str(path), 0, "domains", f"{domain!r} is also covered by {owner[domain]}")
                )
            owner[domain] = str(path)
        sites.append(site)
    if problems:
        raise SiteFileError(problems)
    return sites
