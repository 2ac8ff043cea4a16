"""Text from pages as typed values: numbers, money, dates, truth. Pure; every failure is a `BadValue` with its reason."""

from __future__ import annotations

from .bad_value import BadValue
from .dates import read_date
from .money import Money, read_money
from .numbers import read_decimal, read_integer
from .truth import read_boolean

__all__ = ["BadValue", "Money", "read_boolean", "read_date", "read_decimal", "read_integer", "read_money"]
