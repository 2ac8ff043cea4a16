"""What all parts of a site file have in common: strict models, and the kinds of text that several of them take."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidatorFunctionWrapHandler, WrapValidator

from .patterns import UrlPattern
from .quantities import Duration

__all__ = ["REMEMBERED", "Pattern", "Rules", "Span", "Zone", "alike"]

#: Texts found good that need not be looked at again: thousands of site files have a handful of crons, zones, patterns
#: and selectors, and each takes longer than the rest of the file.
REMEMBERED = 4_096


def alike() -> WrapValidator:
    """For a field of a site file that often says what other files say: what says the same becomes one object. Thousands
    of sites that are alike take a fifth of the memory, and half the time to read."""

    @lru_cache(maxsize=REMEMBERED)
    def place(words: str) -> list[Any]:
        """Where what `words` came to is kept; empty until then, and for ever if they are wrong."""
        del words  # the cache's key
        return []

    def as_before(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        if type(value) is not dict:
            return handler(value)
        # repr tells apart what is equal and not the same: 1, 1.0, True and '1'.
        known = place(repr(value))
        if not known:
            known.append(handler(value))
        return known[0]

    return WrapValidator(as_before)


class Rules(BaseModel):
    """Base of all site-file models: unknown keys are errors, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


@lru_cache(maxsize=REMEMBERED)
def _pattern(text: str) -> str:
    UrlPattern(text)
    return text


@lru_cache(maxsize=REMEMBERED)
def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f"{name!r} is no IANA time zone: write one such as 'Europe/Berlin' or 'UTC'"
        ) from None
    return name


Pattern = Annotated[str, AfterValidator(_pattern)]
Zone = Annotated[str, AfterValidator(_zone)]
Span = Annotated[Duration, Field(gt=0)]
