"""Suite 05-encodings: labels, decoders, Content-Type, prescan, and the order in which they count."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

from resources.web.encoding import declared, decode, encoding_for_label, sniff, to_utf8
from resources.web.http_fields import charset, media_type

from ..case import Case, Check, Suite

__all__ = ["SUITE"]


def _check(case: Case, got: object, wanted: object, passed: bool | None = None) -> Check:
    ok = got == wanted if passed is None else passed
    level = str(case.get("level", "must"))
    return Check(str(case["id"]), level, ok, "" if ok else f"got {got!a}, wanted {wanted!a}")


def _labels(case: Case, folder: Path) -> Iterator[Check]:
    yield _check(case, encoding_for_label(case["input"]["label"]), case["expected"]["encoding"])


def _decode(case: Case, folder: Path) -> Iterator[Check]:
    got = decode(base64.b64decode(case["input"]["b64"]), case["input"]["label"])
    yield _check(case, got, case["expected"]["text"])


def _content_type(case: Case, folder: Path) -> Iterator[Check]:
    value = case["input"]["content_type"]
    expected = case["expected"]
    if "charset" in expected:  # what the header means: an encoding or none
        wanted = expected["charset"]
        got = charset(value)
        yield _check(
            case,
            got and encoding_for_label(got),
            wanted and encoding_for_label(wanted.replace("_", "-")),
        )
    if "charset_parameter" in expected:  # the parameter as it is written
        yield _check(case, media_type(value).parameters.get("charset"), expected["charset_parameter"])


def _prescan(case: Case, folder: Path) -> Iterator[Check]:
    body, default = base64.b64decode(case["input"]["b64"]), case["input"]["default"]
    expected = case["expected"]
    decision = declared(body)
    wanted = expected.get("encoding", expected.get("encoding_after_prescan"))
    yield _check(case, default if decision is None else decision.encoding, wanted)


def _header_and_body(case: Case, folder: Path) -> Iterator[Check]:
    body, content_type = base64.b64decode(case["input"]["b64"]), case["input"]["content_type"]
    expected = case["expected"]
    decision = sniff(body, content_type)
    if "encoding" in expected:
        yield _check(case, decision.encoding, expected["encoding"])
    if "encoding_any_of" in expected:
        any_of = expected["encoding_any_of"]
        yield _check(case, decision.encoding, any_of, decision.encoding in any_of)
    if "text" in expected:
        yield _check(case, to_utf8(body, content_type)[0].decode(), expected["text"])


SUITE = Suite(
    "05-encodings",
    {
        "labels.json": _labels,
        "decode.json": _decode,
        "content-type.json": _content_type,
        "prescan.json": _prescan,
        "header-and-body.json": _header_and_body,
    },
)
