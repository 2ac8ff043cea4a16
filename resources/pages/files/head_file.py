"""The JSON file of one URL: a list of its versions, newest first, readable with any tool."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from resources.pages.base import Kind, PageHead, PageStoreError

__all__ = ["decode_versions", "encode_versions", "read_versions"]

_NAMES = [field.name for field in fields(PageHead)]


def encode_versions(versions: Sequence[PageHead]) -> bytes:
    """ASCII JSON: any string survives, lone surrogates included."""
    records = []
    for head in versions:
        record: dict[str, Any] = {name: getattr(head, name) for name in _NAMES}
        record["key"] = head.key.hex()
        record["content_hash"] = head.content_hash.hex()
        record["kind"] = head.kind.name
        records.append(record)
    return json.dumps(records, indent=0).encode("ascii")


def decode_versions(data: bytes) -> list[PageHead]:
    """ValueError, KeyError or TypeError for what `encode_versions` did not write."""
    versions = []
    for record in json.loads(data):
        record["key"] = bytes.fromhex(record["key"])
        record["content_hash"] = bytes.fromhex(record["content_hash"])
        record["kind"] = Kind[record["kind"]]
        for pairs in ("headers", "vary"):
            record[pairs] = tuple((name, value) for name, value in record[pairs])
        versions.append(PageHead(**record))
    return versions


def read_versions(path: Path) -> list[PageHead]:
    """The versions in a head file, none if there is none; PageStoreError if it is damaged."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    try:
        return decode_versions(data)
    except (ValueError, KeyError, TypeError) as error:
        raise PageStoreError(
            f"page store: {path} is damaged ({error}); delete it, and the page is fetched again"
        ) from error
