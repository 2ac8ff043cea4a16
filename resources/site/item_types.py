"""Items: which pages hold which kind of thing, and how its fields are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import AfterValidator, field_validator, model_validator
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from resources.web.structured_data.lookup import compile_path

from .base import REMEMBERED, Pattern, Rules, alike
from .patterns import check_regex
from .problems import FieldError

__all__ = ["RESERVED_COLUMNS", "RESERVED_TABLES", "FieldRule", "ItemName", "ItemType", "check_selector"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
#: Columns every item table has; a field of the same name would be ambiguous.
RESERVED_COLUMNS = frozenset({"url", "domain", "item_key", "content_hash", "fetched_at", "first_seen_at",
                              "changed_at", "run_id", "parser_version", "item_index"})  # fmt: skip
#: Tables of the product; an item type of the same name would hide one.
RESERVED_TABLES = frozenset({"pages", "links", "fetch_log", "failed_urls", "excluded_urls", "domains", "items",
                             "rejected_items", "crawl_health", "structured_data", "nights", "gone_pages",
                             "row_counts"})  # fmt: skip
_EMPTY = LexborHTMLParser("<html></html>")


@lru_cache(maxsize=REMEMBERED)
def check_selector(selector: str) -> None:
    """ValueError if `selector` is no CSS selector that Lexbor understands."""
    try:
        _EMPTY.css(selector)
    except (SelectolaxError, ValueError) as error:
        raise ValueError(f"CSS selector {selector!r}: {error}") from None


def check_date_format(text: str) -> None:
    """ValueError if `text` is no strptime format, or one without a date in it."""
    if "%" not in text:
        raise ValueError(f"{text!r} is no date format: write strptime codes, as in '%d.%m.%Y'")
    try:
        datetime.strptime("", text)
    except ValueError as error:
        if "does not match format" not in str(error):
            raise ValueError(f"date format {text!r}: {error}") from None


class FieldRule(Rules):
    """One column of an item. A plain string in YAML is short for `{css: …}`."""

    css: str | None = None
    """CSS selector, looked up inside the item's element (or the page)."""
    data: str | None = None
    """A value of the page's structured data, as in `jsonld:Product.offers.price`, `microdata:`, `rdfa:`, `mf2:h-card.email` or `og:title`."""
    constant: str | None = None
    """The same value for every item."""
    attribute: str | None = None
    """Take this attribute instead of the text. `href` and `src` become absolute."""
    type: Literal["text", "number", "integer", "money", "date", "boolean", "list", "url"] = "text"
    """What the text is turned into; a row whose text does not fit goes to rejected_items."""
    regex: str | None = None
    """RE2; the first group (or the match) is the value. Applied before the type."""
    required: bool = False
    """Without a value the row goes to rejected_items."""
    decimal: Literal[".", ","] | None = None
    """Decimal mark of numbers and money; found by itself if unset."""
    currency: str | None = None
    """ISO 4217 code of money without a currency sign."""
    date_format: str | None = None
    """strptime format; ISO 8601, RFC 9110 and common forms are understood without."""
    true_values: tuple[str, ...] = ("true", "yes", "1", "in stock", "instock", "available")
    """Texts that make a boolean true, compared without case; a boolean field without a match is false."""
    description: str = ""
    """Comment of the column."""

    @field_validator("css")
    @classmethod
    def _selector(cls, value: str | None) -> str | None:
        if value is not None:
            check_selector(value)
        return value

    @field_validator("regex")
    @classmethod
    def _regex(cls, value: str | None) -> str | None:
        if value is not None:
            check_regex(value)
        return value

    @field_validator("data")
    @classmethod
    def _data_path(cls, value: str | None) -> str | None:
        if value is not None:
            compile_path(value)
        return value

    @field_validator("currency")
    @classmethod
    def _currency(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[A-Z]{3}", value):
            raise ValueError(f"{value!r} is no ISO 4217 code: three capital letters, as in 'EUR'")
        return value

    @field_validator("date_format")
    @classmethod
    def _date_format(cls, value: str | None) -> str | None:
        if value is not None:
            check_date_format(value)
        return value

    @model_validator(mode="after")
    def _one_source(self) -> FieldRule:
        sources = [s for s in (self.css, self.data, self.constant) if s is not None]
        if len(sources) != 1:
            raise ValueError("a field has exactly one source: 'css', 'data' or 'constant'")
        return self


def _name_among(what: str, taken: frozenset[str], why: str) -> Callable[[str], str]:
    def check(name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{what} {name!r}: use lower-case letters, digits and _, starting with a letter (at most 63)"
            )
        if name in taken:
            raise ValueError(f"{what} {name!r} is {why}: choose another")
        return name

    return check


FieldName = Annotated[
    str, AfterValidator(_name_among("field", RESERVED_COLUMNS, "a column every item table has"))
]
ItemName = Annotated[
    str, AfterValidator(_name_among("item type", RESERVED_TABLES, "the name of a table of Nightcrawl"))
]


class ItemType(Rules):
    """One table of things found on pages."""

    match: tuple[Pattern, ...] = ("/*",)
    """URL patterns of the pages that hold such items."""
    each: str | None = None
    """CSS selector of the element of one item, for pages with several. Unset: the page is one item."""
    key: tuple[str, ...] = ()
    """Fields that identify an item within its domain. Unset: the page's URL (and position, with `each`)."""
    fields: dict[FieldName, Annotated[FieldRule, alike()]]
    """Columns by name."""

    @field_validator("match", "key", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("each")
    @classmethod
    def _selector(cls, value: str | None) -> str | None:
        if value is not None:
            check_selector(value)
        return value

    @field_validator("fields", mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        if isinstance(value, dict):
            return {k: {"css": v} if isinstance(v, str) else v for k, v in value.items()}
        return value

    @field_validator("fields")
    @classmethod
    def _some(cls, value: dict[str, FieldRule]) -> dict[str, FieldRule]:
        if not value:
            raise ValueError("is empty: name at least one field")
        return value

    @model_validator(mode="after")
    def _key_fields(self) -> ItemType:
        for name in self.key:
            if name not in self.fields:
                raise FieldError(f"key field {name!r} is not among the fields: add it there", "key")
            if not self.fields[name].required:
                raise FieldError("is in the key: add 'required: true'", "fields", name)
        return self
