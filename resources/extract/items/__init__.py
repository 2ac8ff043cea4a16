"""Items: the things a site file asks for, read from pages as typed rows or rejected with a reason."""

from __future__ import annotations

from .columns import ITEM_COLUMNS, Column, field_columns
from .item_rows import ItemExtractor, ItemRow, RejectedRow

__all__ = ["ITEM_COLUMNS", "Column", "ItemExtractor", "ItemRow", "RejectedRow", "field_columns"]
