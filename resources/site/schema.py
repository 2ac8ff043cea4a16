"""The JSON schema of a site file, for completion and checking in editors."""

from __future__ import annotations

import json
from typing import Any

from .model import Site

__all__ = ["json_schema", "json_schema_text"]


def json_schema() -> dict[str, Any]:
    """Draft 2020-12 schema of a site file. `name` is optional: the file's name stands in."""
    schema = Site.model_json_schema(mode="validation")
    schema["required"] = ["domains"]
    _add_short_forms(schema["$defs"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Nightcrawl site file",
    }


def _add_short_forms(definitions: dict[str, Any]) -> None:
    """What the models take besides: one text for a list of them, a selector for a whole field."""
    for model, key in (("ItemType", "match"), ("ItemType", "key"), ("Canary", "contains")):
        value = definitions[model]["properties"][key]
        outer = {name: value.pop(name) for name in ("description", "default", "title") if name in value}
        definitions[model]["properties"][key] = {"anyOf": [value, {"type": "string"}], **outer}
    fields = definitions["ItemType"]["properties"]["fields"]
    fields["additionalProperties"] = {"anyOf": [fields["additionalProperties"], {"type": "string"}]}


def json_schema_text() -> str:
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
