"""YAML as site files use it: the core schema of YAML 1.2, with the line of every value.

Different from PyYAML's defaults, because site files are written by people and read unattended:

* `off`, `no`, `yes` and `on` are words, `22:00` is no number and `2026-01-01` no date object (YAML 1.2);
* keys are text to the letter (`true`, `1.50` and the empty one too), so that each can be named in a message;
* a key given twice is an error, aliases (`*name`) are refused, tags cannot make objects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml
from yaml._yaml import CParser

__all__ = ["Document", "Path", "YamlError", "read_yaml"]

#: Keys and list positions from the root to a value.
Path = tuple[str | int, ...]


class YamlError(Exception):
    """Text that is no usable YAML; `line` is 1-based, 0 where it cannot be told."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Document:
    """A value and, for every path in it, the line on which it stands."""

    value: Any
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """The line of `path`, or of the nearest thing above it that exists."""
        for end in range(len(path), -1, -1):
            if (found := self.lines.get(path[:end])) is not None:
                return found
        return 1


class _Rules(yaml.composer.Composer, yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """What a site file may hold, over the events of any parser. See the module docstring."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        events: Any = self  # whichever parser it was joined with
        if events.check_event(yaml.events.AliasEvent):
            mark: Any = events.get_event().start_mark
            raise yaml.composer.ComposerError(
                None, None, "aliases (*name) are not allowed in a site file: write the value out", mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = str(getattr(key_node, "value", ""))
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} is given twice: keep one", key_node.start_mark
                )
            seen.add(key)
            if isinstance(key_node, yaml.ScalarNode):
                key_node.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)

    def begin(self) -> None:
        """The parts that need no text."""
        yaml.composer.Composer.__init__(self)
        yaml.constructor.SafeConstructor.__init__(self)
        yaml.resolver.Resolver.__init__(self)


class _Loader(_Rules, yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """Over PyYAML's own parser: the one whose errors people can read."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)
        self.begin()


class _QuickLoader(_Rules, CParser):
    """Over libyaml's, which takes a fifth of the time: a run may read thousands of site files."""

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        self.begin()


# YAML 1.2.2 §10.3.2, the core schema; without octal and hexadecimal numbers, which no key wants.
_Rules.yaml_implicit_resolvers = {}
for _tag, _expression, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+", "-+.0123456789"),
):  # fmt: skip
    _Rules.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_expression})\\Z"), list(_first)
    )


def _int(loader: Any, node: yaml.ScalarNode) -> int:
    # Decimal whatever the leading zeros: SafeLoader would read 010 as 8.
    return int(node.value)


def _float(loader: Any, node: yaml.ScalarNode) -> float:
    return float(node.value)


_Rules.add_constructor("tag:yaml.org,2002:int", _int)
_Rules.add_constructor("tag:yaml.org,2002:float", _float)


def read_yaml(text: str) -> Document:
    """Parse one document. YamlError says what is wrong and where."""
    try:
        return _read(_QuickLoader(text))
    except (yaml.YAMLError, ValueError, RecursionError):
        return _read_slowly(text)


def _read(loader: _Loader | _QuickLoader) -> Document:
    try:
        node = loader.get_single_node()
        return Document(loader.construct_document(node) if node is not None else None, _lines(node))
    finally:
        loader.dispose()


def _read_slowly(text: str) -> Document:
    """With errors as words. Numbered cases: 1. a place is known; 2. nested too deeply; 3. a character; 4. others."""
    try:
        return _read(_Loader(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(str(error.problem), mark.line + 1 if mark else 0) from None
    except RecursionError:
        raise YamlError("nested too deeply", 0) from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise YamlError(
            f"character U+{error.character:04X} is not allowed: write it as an escape", line
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise YamlError(str(error).splitlines()[0], 0) from None


def _lines(root: yaml.Node | None) -> dict[Path, int]:
    found: dict[Path, int] = {}
    todo: list[tuple[Path, yaml.Node, int | None]] = [((), root, None)] if root is not None else []
    while todo:
        path, node, line = todo.pop()
        found[path] = (node.start_mark.line if line is None else line) + 1
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                # The key's line: a value may begin on the next one.
                todo.append(((*path, str(key.value)), value, key.start_mark.line))
        elif isinstance(node, yaml.SequenceNode):
            todo += [((*path, i), value, None) for i, value in enumerate(node.value)]
    return found
