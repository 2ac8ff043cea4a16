"""Sitemaps without markup: a text file with one address a line (sitemaps.org), and JSON Feed (jsonfeed.org)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .addresses import Addresses
from .document import Entry, Limits, Problems

__all__ = ["JsonFeed", "TextList", "looks_like_list"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_ADDRESS_LINE = re.compile(r"^[^\S\r\n]*https?://\S+[^\S\r\n]*$", re.MULTILINE | re.IGNORECASE)
_ITEMS = re.compile(r'"items"\s*:\s*\[')


def looks_like_list(text: str) -> bool:
    """Whether some line is an http(s) address and nothing else."""
    return _ADDRESS_LINE.search(text.replace("\r", "\n")) is not None


class TextList:
    """One address a line; `&amp;` and the like are no markup here. Lines that are no address are dropped."""

    def __init__(self, addresses: Addresses, limits: Limits, problems: Problems) -> None:
        self._addresses, self._limits, self._problems = addresses, limits, problems
        self._rest = ""

    def feed(self, text: str, *, final: bool = False) -> Iterator[Entry]:
        whole = self._rest + text
        # A CR at the very end may be the first half of a CRLF.
        held = "\r" if whole.endswith("\r") and not final else ""
        lines = _LINE_END.split(whole[: len(whole) - len(held)])
        self._rest = "" if final else lines.pop()[: self._limits.url + 1] + held
        for line in lines:
            if not line or line.isspace():
                continue
            address = line.strip().lstrip("\ufeff")
            if not address[:8].lower().startswith(("https://", "http://")):
                self._problems.add("a line is no http or https address: dropped")
                continue
            found = self._addresses.absolute(address)
            if found is not None and self._addresses.first_time(found):
                yield Entry(found, cross_site=self._addresses.cross_site(found))


class JsonFeed:
    """Collects the text and reads it at the end; a file that is cut or broken gives the items before that."""

    def __init__(self, addresses: Addresses, limits: Limits, problems: Problems) -> None:
        self._addresses, self._limits, self._problems = addresses, limits, problems
        self._pieces: list[str] = []
        self._size = 0

    def feed(self, text: str) -> None:
        room = self._limits.json - self._size
        if len(text) > room:
            self._problems.add(
                f"the JSON is longer than {self._limits.json} characters: the rest is not read"
            )
        if room > 0:
            self._pieces.append(text[:room])
            self._size += len(text)

    def items(self) -> list[Entry] | None:
        """The pages; None when this is JSON but no feed."""
        text = "".join(self._pieces)
        start = _ITEMS.search(text)
        if start is None:
            return None
        found: list[Entry] = []
        decoder = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
        at, items = start.end(), 0
        try:
            while True:
                while at < len(text) and text[at] in " \t\r\n,":
                    at += 1
                if at >= len(text):
                    self._problems.add("the feed ends inside its items")
                    break
                if text[at] == "]":
                    break
                item, at = decoder.raw_decode(text, at)
                items += isinstance(item, dict)
                entry = self._entry(item)
                if entry is not None:
                    found.append(entry)
        except (ValueError, RecursionError) as defect:
            self._problems.add(
                f"the feed's JSON is broken ({type(defect).__name__}): kept the items before that"
            )
        is_feed = items > 0 or "jsonfeed.org/version" in text[: start.start()] + text[at : at + 4_096]
        return found if is_feed else None

    def _entry(self, item: object) -> Entry | None:
        if not isinstance(item, dict):
            return None
        # JSON Feed 1.1: `url` is the item's page; `external_url` is a page elsewhere that it talks about; an
        # `id` is the page's address where `url` is left out, if it is one.
        url, identity = item.get("url"), item.get("id")
        written = url if isinstance(url, str) and url.strip() else identity
        if not isinstance(written, str) or (written == identity and "://" not in written):
            self._problems.add("an item names no page: dropped")
            return None
        address = self._addresses.absolute(written)
        if address is None or not self._addresses.first_time(address):
            return None
        date = item.get("date_modified") or item.get("date_published")
        return Entry(
            address,
            date if isinstance(date, str) else None,
            cross_site=self._addresses.cross_site(address),
        )
