"""docs/site-file.md, written from the models: every key with what it takes, its default and its meaning."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from . import quantities
from .base import Rules
from .identity import Identity
from .item_types import FieldRule, ItemType
from .model import Site
from .pace import PaceRules, Window
from .quantities import format_duration
from .rules import (
    CacheRule,
    CacheRules,
    Canary,
    Limits,
    ProxyRules,
    Quality,
    RetryRules,
    Scope,
    TrapRules,
    UrlRules,
)

__all__ = ["reference_markdown"]

_INTRO = """\
# The site file

One YAML file in `sites/` describes one site: `sites/<name>.yaml`. It is checked as a whole before anything is
done; `nightcrawl check` lists every problem of every file with its line and what to write instead. This page is
written from the code (`make docs`); `docs/site-file.schema.json` is the same for editors:

```yaml
# yaml-language-server: $schema=../docs/site-file.schema.json
domains: [shop.example]
identity: {contact: https://acme.example/bot}
```

Only `domains` is required, and `identity.contact` for public hosts. `sites/practice.yaml` is a worked example;
`nightcrawl init URL` writes a first file for a real site.

The YAML is that of version 1.2: `off`, `no` and `yes` are words, `22:00` is a text. Aliases and keys given twice
are errors. A file has at most 1 MB; long lists of seeds go into files of their own (`@urls.txt`).

## Values

| written as | means |
| --- | --- |
| duration | seconds (`30`), or units: `500ms`, `15m`, `36h`, `7d`, `1d 12h` |
| rate | `auto`, `unlimited`, requests a second (`2`), or `30/min`, `100/h`, `1/5s` |
| size | bytes, or `200 kB`, `20 MB`, `1 GiB` |
| URL pattern | `/book/*` a path from its start, `*` any text; `/book/*$` anchored at the end; `*.pdf$`; `https://a.example/*` the whole URL; `re:^/p/\\d+$` a regular expression (RE2) |
| seed | a URL; a range `https://shop.example/list?page={1..500}`, `{01..12}`, `{0..1000..50}`; `@urls.txt`, a file beside the site file with one of these a line |
| `${NAME}` | in headers and proxies: taken from the environment, never logged |
"""

_SECTIONS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("scope", Scope),
    ("identity", Identity),
    ("pace", PaceRules),
    ("pace.window", Window),
    ("retry", RetryRules),
    ("cache", CacheRules),
    ("cache.rules[]", CacheRule),
    ("urls", UrlRules),
    ("limits", Limits),
    ("traps", TrapRules),
    ("proxies", ProxyRules),
    ("items.<table>", ItemType),
    ("items.<table>.fields.<column>", FieldRule),
    ("canaries[]", Canary),
    ("quality", Quality),
)

_SCALARS = {str: "text", int: "whole number", float: "number", bool: "true or false"}
_QUANTITIES = {
    quantities.parse_duration: "duration",
    quantities.parse_rate: "rate",
    quantities.parse_bytes: "size",
}


def reference_markdown() -> str:
    """The whole page."""
    parts = [_INTRO, "## Keys of the file\n", *_table(Site)]
    for name, model in _SECTIONS:
        words = " ".join((model.__doc__ or "").split())
        parts += [f"\n## `{name}`\n", f"{words}\n", *_table(model)]
    return "\n".join(parts) + "\n"


def _table(model: type[BaseModel]) -> Iterator[str]:
    yield "| key | takes | default | |"
    yield "| --- | --- | --- | --- |"
    for name, field in model.model_fields.items():
        meaning = " ".join((field.description or "").split())
        yield f"| `{name}` | {_cell(_takes(field))} | {_cell(_default(field))} | {_cell(meaning)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _takes(field: FieldInfo) -> str:
    return _type(Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation)


def _type(annotation: Any) -> str:
    """What may be written there, in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:])
    if origin is Literal:
        return ", ".join(f"`{a}`" for a in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(_type(a) for a in arguments if a is not type(None))
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"keys with {_type(arguments[1])}"
    if isinstance(annotation, type) and issubclass(annotation, Rules):
        return "keys, see below"
    return _SCALARS.get(annotation, str(annotation))


def _annotated(base: Any, metadata: tuple[Any, ...]) -> str:
    words = _type(base)
    bounds = []
    for item in metadata:
        call = getattr(item, "func", None)
        words = _QUANTITIES.get(call, words) if call is not None else words
        for nested in (item, *getattr(item, "metadata", ())):
            for name, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<")):
                if (value := getattr(nested, name, None)) is not None:
                    bounds.append(f"{sign} {value:g}")
        name = getattr(call, "__name__", "")
        words = {"_pattern": "URL pattern", "_zone": "IANA time zone", "_cron": "cron expression",
                 "_network": "address or network", "normal_domain": "host[:port]"}.get(name, words)  # fmt: skip
    return f"{words} ({', '.join(dict.fromkeys(bounds))})" if bounds else words


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined or value is None:
        return "`auto`" if "rate" in _takes(field).split(" ") else "–"
    if isinstance(value, BaseModel):
        return "as below"
    if isinstance(value, float) and "duration" in _takes(field):
        return f"`{format_duration(value)}`"
    if isinstance(value, float) and _takes(field).startswith("rate"):
        return f"`{value:g}`" if value >= 1 else f"`{value * 60:g}/min`"
    if value in ((), [], {}):
        return "none"
    plain = TypeAdapter(Any).dump_python(value, mode="json")
    if isinstance(plain, bool):
        return f"`{str(plain).lower()}`"
    if isinstance(plain, list):
        return ", ".join(f"`{entry}`" for entry in plain)
    return f"`{plain:g}`" if isinstance(plain, float) else f"`{plain}`"
