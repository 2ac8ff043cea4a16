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
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Nightcrawl site file",
    }


def json_schema_text() -> str:
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
