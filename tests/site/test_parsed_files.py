"""What processes leave each other of site files: quicker, and never anything else than the files say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import xxhash

from resources.site import load, parsed_files
from resources.site.load import WORTH_REMEMBERING, read_sites
from resources.site.model import Site
from resources.site.problems import Problem

MANY = WORTH_REMEMBERING


@pytest.fixture
def sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with as many site files as it takes, that count as settled at once."""
    monkeypatch.setattr(parsed_files, "SETTLED_S", 0.0)
    folder = tmp_path / "sites"
    folder.mkdir()
    for n in range(MANY):
        text = (
            f"domains: [shop-{n}.example]\nseeds: [https://shop-{n}.example/]\nschedule: '{n % 60} 1 * * *'\n"
        )
        (folder / f"shop-{n:03}.yaml").write_text(text)
    return folder


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose YAML was parsed, in order."""
    found: list[str] = []
    real = load._read_file

    def counted(path: Path) -> load._Read:
        found.append(path.name)
        return real(path)

    monkeypatch.setattr(load, "_read_file", counted)
    return found


def new_process(sites: Path) -> tuple[list[Site], list[Problem]]:
    """What a process finds that has read nothing yet."""
    load._known.clear()
    return read_sites(sites, parsed=sites.parent / "parsed")


def test_a_new_process_has_the_same_sites_without_parsing(sites: Path, parsed: list[str]) -> None:
    first = new_process(sites)
    assert len(parsed) == MANY
    parsed.clear()
    again = new_process(sites)
    assert again == first and parsed == []
    assert [s.model_fields_set for s in again[0]] == [s.model_fields_set for s in first[0]]


def test_what_changed_is_parsed_and_what_went_is_forgotten(sites: Path, parsed: list[str]) -> None:
    new_process(sites)
    parsed.clear()
    (sites / "shop-007.yaml").write_text("domains: [shop-7.example]\nschedule: '0 5 * * *'\n")
    (sites / "shop-008.yaml").unlink()
    (sites / "shop-new.yaml").write_text("domains: [new.example]\n")
    found, problems = new_process(sites)
    assert parsed == ["shop-007.yaml", "shop-new.yaml"] and problems == []
    assert {s.name: s.schedule for s in found}["shop-007"] == "0 5 * * *"
    assert "shop-008" not in (sites.parent / "parsed").read_text()


def test_mistakes_are_told_as_ever_with_their_lines(sites: Path) -> None:
    new_process(sites)
    (sites / "shop-010.yaml").write_text("domains: [shop-10.example]\nsedes: []\n")
    (sites / "shop-011.yaml").write_text("# twice\ndomains:\n- shop-11.example\n- shop-12.example\n")
    load._known.clear()
    told = read_sites(sites)
    for _ in range(2):
        assert new_process(sites) == told
    # shop-012 is good by itself and known from another process: its line is found all the same.
    assert [(Path(p.file).name, p.line) for p in told[1]] == [("shop-010.yaml", 2), ("shop-012.yaml", 1)]


def test_lists_of_seeds_are_looked_at_every_time(sites: Path) -> None:
    seeds = sites / "urls.txt"
    seeds.write_text("https://shop-3.example/a\n")
    (sites / "shop-003.yaml").write_text("domains: [shop-3.example]\nseeds: ['@urls.txt']\n")
    assert new_process(sites)[1] == []
    seeds.write_text("https://stranger.example/a\n")
    (problem,) = new_process(sites)[1]
    assert problem.line == 2 and "stranger.example" in problem.message


def test_a_value_that_the_rules_do_not_allow_cannot_come_in(sites: Path, parsed: list[str]) -> None:
    """Whoever writes the file, digest and all: what it says is validated, and then the site file counts."""
    wanted = new_process(sites)
    path = sites.parent / "parsed"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[2]["robots"] = "no such thing"
    body = "".join(json.dumps(line) + "\n" for line in lines[1:])
    lines[0]["digest"] = xxhash.xxh3_128_hexdigest(body.encode())
    path.write_text(json.dumps(lines[0]) + "\n" + body)
    parsed.clear()
    assert new_process(sites) == wanted
    assert parsed == ["shop-000.yaml"]


DAMAGE: list[Callable[[bytes], bytes]] = [
    lambda data: b"",
    lambda data: data[:-20],
    lambda data: data[: len(data) // 2] + b"\0\xff" + data[len(data) // 2 :],
    lambda data: b"[" * 100_000,
    lambda data: data.replace(b'"version": "', b'"version": "0', 1),
    lambda data: data.replace(b"1 * * *", b"2 * * *", 1),
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_as_good_as_none(
    sites: Path, parsed: list[str], damage: Callable[[bytes], bytes]
) -> None:
    wanted = new_process(sites)
    path = sites.parent / "parsed"
    path.write_bytes(damage(path.read_bytes()))
    parsed.clear()
    assert new_process(sites) == wanted and len(parsed) == MANY
    parsed.clear()
    assert new_process(sites) == wanted and parsed == []  # and it was made anew


def test_a_file_that_others_may_write_is_not_believed(sites: Path, parsed: list[str]) -> None:
    new_process(sites)
    path = sites.parent / "parsed"
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o666)
    parsed.clear()
    new_process(sites)
    assert len(parsed) == MANY


def test_where_nothing_can_be_written_sites_are_read_as_ever(
    sites: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (sites.parent / "parsed").mkdir()
    assert len(new_process(sites)[0]) == MANY
    assert "cannot be written" in caplog.text
    assert not list(sites.parent.glob(".*new"))


def test_a_file_changed_just_now_is_not_kept(
    sites: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsed_files, "SETTLED_S", 3_600.0)
    new_process(sites)
    assert not (sites.parent / "parsed").exists()


def test_a_few_files_leave_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("domains: [a.example]\n")
    read_sites(tmp_path, parsed=tmp_path / "parsed")
    assert not (tmp_path / "parsed").exists()
