"""HTTP-date and Retry-After: `resources.web.http_date` and `resources.web.retry_after`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from resources.web.http_date import format_http_date, parse_http_date
from resources.web.retry_after import DEFAULT_CAP_S, retry_after

from ..case import ASSERTED, Case, Check, Suite

__all__ = ["SUITE"]


def _level(case: Case) -> str:
    return str(case.get("level", "must"))


def _date(case: Case, folder: Path) -> Iterator[Check]:
    level = _level(case)
    text, day = case["input"]["text"], case["input"].get("now")
    now = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() if day else None
    # The product's strict reading answers what is asserted; the lenient one is an option of its own.
    got = parse_http_date(text, now, lenient=level not in ASSERTED)
    want = None if case["expected"].get("invalid") else case["expected"]["epoch"]
    yield Check(case["id"], level, got == want, f"{text!r}: {got}, expected {want}")


def _format(case: Case, folder: Path) -> Iterator[Check]:
    got = format_http_date(case["input"]["epoch"])
    want = case["expected"]["text"]
    yield Check(case["id"], _level(case), got == want, f"{got!r}, expected {want!r}")


def _retry_after(case: Case, folder: Path) -> Iterator[Check]:
    given, expected = case["input"], case["expected"]
    got = retry_after(
        given["retry_after"],
        given["status"],
        given["now_epoch"],
        given.get("cap_s", DEFAULT_CAP_S),
        response_date=given.get("response_date"),
    )
    accepted = [expected["wait_s"], *([expected["or"]] if "or" in expected else [])]
    passed = got in accepted
    yield Check(
        case["id"], _level(case), passed, f"{given['retry_after'][:80]!r}: {got}, expected {accepted}"
    )


SUITE = Suite(
    "04-dates-retry-after",
    {"http-date.json": _date, "http-date-format.json": _format, "retry-after.json": _retry_after},
)
