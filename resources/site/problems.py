"""What is wrong with a site file, in words that say where and how to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from .yaml_source import Document, Path

__all__ = ["FieldError", "FieldErrors", "Problem", "SiteFileError", "problems_of"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend, where it stands and how. `line` 0: the whole file."""

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


class FieldError(ValueError):
    """A rule over several keys is broken; `path` leads from the model that checks it to the key to mend."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


class FieldErrors(ValueError):
    """Several broken rules of one model, told together."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(map(str, errors)))
        self.errors = tuple(errors)


def problems_of(
    error: ValidationError, document: Document, file: str, model: type[BaseModel]
) -> list[Problem]:
    """The problems in a failed validation, one for each place: the members of a union are told together."""
    by_place: dict[Path, list[str]] = {}
    for item in error.errors():
        for path, words in _places(item, document, model):
            known = by_place.setdefault(path, [])
            if words not in known:
                known.append(words)
    return [
        Problem(file, document.line(path), _field(path), " or: ".join(words))
        for path, words in by_place.items()
    ]


def _places(item: Mapping[str, Any], document: Document, model: type[BaseModel]) -> list[tuple[Path, str]]:
    """Where and what. Keys of the document only: unions add their members' names to pydantic's paths."""
    path: Path = ()
    for position, part in enumerate(item["loc"]):
        last = position == len(item["loc"]) - 1
        if (*path, part) in document.lines or (last and item["type"] == "missing"):
            path = (*path, part)
    cause = item.get("ctx", {}).get("error")
    if isinstance(cause, FieldErrors):
        return [((*path, *one.path), str(one)) for one in cause.errors]
    if isinstance(cause, FieldError):
        return [((*path, *cause.path), str(cause))]
    return [(path, _explain(item, path, model))]


def _explain(item: Mapping[str, Any], path: Path, model: type[BaseModel]) -> str:
    kind = item["type"]
    if kind == "extra_forbidden":
        known = _keys_beside(model, path[:-1])
        close = difflib.get_close_matches(str(path[-1]), known, n=1)
        if close:
            return f"unknown key; did you mean {close[0]!r}?"
        return "unknown key" + (f"; known are: {', '.join(sorted(known))}" if known else "")
    if kind == "missing":
        return "is required: add it"
    message = str(item["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if kind in ("value_error", "assertion_error"):
        return message
    found = _shown(item.get("input"))
    if kind in ("tuple_type", "list_type"):
        return f"expected a list: write [{found}] or one '- …' a line"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"expected keys and values below it (found {found})"
    return f"{message} (found {found})"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _keys_beside(model: type[BaseModel], path: Path) -> list[str]:
    """The keys a model knows at `path`, for suggestions."""
    current: Any = model
    for part in path:
        found = _model_in(current)
        if found is not None and str(part) in found.model_fields:
            current = found.model_fields[str(part)].annotation
        # Else a key of a dictionary or a place in a list: the annotation is the same, one layer in.
    found = _model_in(current)
    return list(found.model_fields) if found is not None else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The first model inside `X | None`, `tuple[X, ...]`, `dict[str, X]` and the like."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for a in get_args(annotation) if (m := _model_in(a)) is not None), None)


def _field(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text
