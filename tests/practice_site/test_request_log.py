"""The log counts what was really seen, however it is asked."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from practice_site import PracticeSite, site_config
from practice_site.request_log import gap_statistics, max_in_window
from tests.practice_site.raw_client import fetch


@given(st.lists(st.integers(0, 5000), max_size=50).map(sorted), st.integers(1, 2000))
def test_the_busiest_window_is_found(times: list[int], window: int) -> None:
    slow = max((sum(start <= t < start + window for t in times) for start in times), default=0)
    assert max_in_window(times, window) == slow


def test_gap_statistics_tell_a_metronome_from_jitter() -> None:
    steady = gap_statistics([float(n) for n in range(11)])
    assert (steady["gap_variation"], steady["rate"], steady["max_in_window"]) == (0.0, 1.0, 1)
    assert gap_statistics([0.0, 0.5, 2.0, 2.2])["gap_variation"] > 0.5
    assert gap_statistics([])["rate"] == 0.0


async def test_each_request_is_one_entry_with_what_happened() -> None:
    async with PracticeSite(site_config(n_products=5)) as site:
        etag = (await fetch(site, "/books", User_Agent="tester/1")).headers["etag"]
        await fetch(site, "/books", If_None_Match=etag)
        await fetch(site, "/books")
        await fetch(site, "/gone-away")
        first, second, third, fourth = site.log.entries
        assert (first.path, first.status, first.outcome, first.user_agent) == (
            "/books",
            200,
            "ok",
            "tester/1",
        )
        assert (second.status, second.outcome, second.conditional, second.bytes) == (
            304,
            "not_modified",
            True,
            0,
        )
        assert (third.number, third.bytes) == (3, first.bytes)
        assert fourth.kind == "unknown"
        stats = site.stats()
        assert (stats["requests"], stats["conditional"], stats["repeated"]) == (4, 1, 1)
        assert stats["by_status"] == {"200": 2, "304": 1, "404": 1}
        assert site.stats(since=3)["requests"] == 1
        assert [entry.path for entry in site.log.select(status=404)] == ["/gone-away"]


async def test_the_file_holds_the_same_entries(tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    async with PracticeSite(site_config(n_products=5, log_file=str(file))) as site:
        for path in ("/", "/books", "/nowhere"):
            await fetch(site, path)
        entries = [entry._asdict() for entry in site.log.entries]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [{**line, "site": None} for line in lines] == [{**entry, "site": None} for entry in entries]
    assert lines[0]["site"] == site.domain
