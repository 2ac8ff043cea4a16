"""Reads one field of an item: where its texts come from, and what they become."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import re2
from selectolax.lexbor import LexborHTMLParser, LexborNode

from resources.extract.values import (
    BadValue,
    read_boolean,
    read_date,
    read_decimal,
    read_integer,
    read_money,
)
from resources.site.item_types import FieldRule
from resources.web.css import css as find
from resources.web.css import css_first as find_first
from resources.web.structured_data import StructuredData, lookup
from resources.web.urls import MAX_URL_LENGTH, url_without_credentials

__all__ = ["FieldReader", "PageContext"]

#: Characters of one value; a longer text is the whole page by a selector too wide, and is cut.
MAX_TEXT = 100_000
#: Values of one list field.
MAX_LIST = 1_000
_ADDRESS_ATTRIBUTES = frozenset({"href", "src", "action", "poster", "data-src", "data-href"})
#: Names beside a price that hold its currency.
_PRICE = re.compile(r"(?P<stem>.*\.)(?:price|lowPrice|highPrice)")


@dataclass(slots=True)
class PageContext:
    """What the fields of a page share."""

    data: StructuredData
    absolute: Callable[[str], str | None]


class FieldReader:
    """One `FieldRule`, compiled."""

    def __init__(self, name: str, rule: FieldRule, *, has_currency_column: bool) -> None:
        self.name = name
        self.rule = rule
        self.has_currency_column = has_currency_column
        options = re2.Options()
        options.log_errors = False
        self._regex = re2.compile(rule.regex, options) if rule.regex is not None else None
        self._currency_path = _currency_path(rule.data) if rule.type == "money" and rule.data else None

    def raw(self, scope: LexborHTMLParser | LexborNode, page: PageContext) -> list[str]:
        """The texts found, blanks folded, regex applied, empty ones left out. One at most unless a list."""
        rule = self.rule
        many = rule.type == "list"
        if rule.constant is not None:
            texts = [rule.constant]
        elif rule.data is not None:
            texts = lookup(page.data, rule.data)
        else:
            assert rule.css is not None  # the model has exactly one source
            texts = self._from_nodes(scope, rule.css, page, many=many)
        found = []
        for text in texts[:MAX_LIST] if many else texts[:1]:
            value: str | None = " ".join(text[:MAX_TEXT].split())
            if value and self._regex is not None:
                match = self._regex.search(value)
                value = (
                    (match.group(1) if self._regex.groups else match.group()) if match is not None else None
                )
            if value:
                found.append(value)
        return found

    def _from_nodes(
        self, scope: LexborHTMLParser | LexborNode, css: str, page: PageContext, *, many: bool
    ) -> list[str]:
        if many:
            nodes = find(scope, css)
        else:
            node = find_first(scope, css)
            nodes = [node] if node is not None else []
        attribute = self.rule.attribute
        if attribute is None:
            if self.rule.type == "url":
                # A link without a named attribute: its address, not its words.
                return [t for n in nodes if (t := n.attrs.get("href") or n.attrs.get("src") or n.text())]
            return [node.text() for node in nodes]
        texts = []
        for node in nodes:
            text = node.attrs.get(attribute)
            if text is not None and attribute in _ADDRESS_ATTRIBUTES:
                text = url_without_credentials(page.absolute(text) or text)
            if text is not None:
                texts.append(text)
        return texts

    def typed(self, raw: list[str], page: PageContext) -> tuple[Any, ...]:
        """The values of the field's columns (two for money). BadValue if the text is not of the type.

        Nothing found is None (an empty list for lists, False for booleans).
        """
        rule = self.rule
        if rule.type == "list":
            return (raw,)
        if rule.type == "boolean":
            return (read_boolean(raw[0] if raw else None, rule.true_values),)
        if not raw:
            return (None, None) if self.has_currency_column else (None,)
        text = raw[0]
        match rule.type:
            case "number":
                return (float(read_decimal(text, rule.decimal)),)
            case "integer":
                return (read_integer(text, rule.decimal),)
            case "date":
                return (read_date(text, rule.date_format),)
            case "url":
                return (_address(text, page),)
            case "money":
                beside = lookup(page.data, self._currency_path) if self._currency_path else []
                code = beside[0].upper() if beside and re.fullmatch(r"[A-Za-z]{3}", beside[0]) else None
                money = read_money(text, rule.decimal or ("." if rule.data else None), code or rule.currency)
                return (money.amount, money.currency) if self.has_currency_column else (money.amount,)
            case _:
                return (text,)


def _address(text: str, page: PageContext) -> str:
    url = page.absolute(text)
    if url is None or len(url) > MAX_URL_LENGTH:
        raise BadValue(f"{text[:80]!r} is no http(s) URL")
    return url_without_credentials(url)


def _currency_path(path: str) -> str | None:
    """Where the currency of a price stands: `offers.price` → `offers.priceCurrency`."""
    if path.endswith(":price:amount"):
        return path.removesuffix("amount") + "currency"
    found = _PRICE.fullmatch(path)
    return found["stem"] + "priceCurrency" if found else None
