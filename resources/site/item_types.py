"""Items: which pages hold which kind of thing, and how its fields are read."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from .patterns import check_regex
from .rules import Pattern, Rules

__all__ = ["RESERVED_COLUMNS", "RESERVED_TABLES", "FieldRule", "ItemType", "check_selector"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
#: Columns every item table has; a field of the same name would be ambiguous.
RESERVED_COLUMNS = frozenset({"url", "domain", "item_key", "content_hash", "fetched_at", "first_seen_at",
                              "changed_at", "run_id", "parser_version", "item_index"})  # fmt: skip
#: Tables of the product; an item type of the same name would hide one.
RESERVED_TABLES = frozenset({"pages", "links", "fetch_log", "failed_urls", "excluded_urls", "domains", "items",
                             "rejected_items", "crawl_health", "structured_data", "nights"})  # fmt: skip
_EMPTY = LexborHTMLParser("<html></html>")


def check_selector(selector: str) -> None:
    """ValueError if `selector` is no CSS selector that Lexbor understands."""
    try:
        _EMPTY.css(selector)
    except (SelectolaxError, ValueError) as error:
        raise ValueError(f"CSS selector {selector!r}: {error}") from None


class FieldRule(Rules):
    """One column of an item. A plain string in YAML is short for `{css: …}`."""

    css: str | None = None
    """CSS selector, looked up inside the item's element (or the page)."""
    data: str | None = None
    """A value of the page's structured data, as in `jsonld:Product.offers.price` or `og:title`."""
    constant: str | None = None
    attribute: str | None = None
    """Take this attribute instead of the text. `href` and `src` become absolute."""
    type: Literal["text", "number", "integer", "money", "date", "boolean", "list", "url"] = "text"
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

    @model_validator(mode="after")
    def _one_source(self) -> FieldRule:
        sources = [s for s in (self.css, self.data, self.constant) if s is not None]
        if len(sources) != 1:
            raise ValueError("a field has exactly one source: 'css', 'data' or 'constant'")
        return self


class ItemType(Rules):
    """One table of things found on pages."""

    match: tuple[Pattern, ...] = ("/*",)
    """URL patterns of the pages that hold such items."""
    each: str | None = None
    """CSS selector of the element of one item, for pages with several. Unset: the page is one item."""
    key: tuple[str, ...] = ()
    """Fields that identify an item within its domain. Unset: the page's URL (and position, with `each`)."""
    fields: Annotated[dict[str, FieldRule], Field(min_length=1)]

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
    def _names(cls, value: dict[str, FieldRule]) -> dict[str, FieldRule]:
        for name in value:
            if not _NAME.fullmatch(name):
                raise ValueError(
                    f"field name {name!r}: use lower-case letters, digits and _, starting with a letter"
                )
            if name in RESERVED_COLUMNS:
                raise ValueError(f"field name {name!r} is a column every item table has; choose another")
        return value

    @model_validator(mode="after")
    def _key_fields(self) -> ItemType:
        for name in self.key:
            if name not in self.fields:
                raise ValueError(f"key field {name!r} is not among the fields")
            if not self.fields[name].required:
                raise ValueError(f"key field {name!r} must be 'required: true'")
        return self
