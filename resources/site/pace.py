"""The part of a site file that says how fast to ask, and when."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from .base import Rules, Zone
from .problems import FieldError
from .quantities import Duration, Rate

__all__ = ["PaceRules", "Window"]


class Window(Rules):
    """When the site may be crawled, in its own time zone; daylight saving is honoured."""

    start: str
    """Local time of day, `22:00`."""
    end: str
    """Local time of day, `06:00`; earlier than `start` means the next day."""
    days: tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...] = ()
    """Days on which the window opens. Empty: every day."""
    zone: Zone = "UTC"
    """IANA time zone."""

    @field_validator("start", "end")
    @classmethod
    def _time(cls, value: str) -> str:
        if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", str(value)):
            raise ValueError(f"{value!r} is no time of day: write '22:00' (24 hours, two digits each)")
        return value

    @model_validator(mode="after")
    def _some_time(self) -> Window:
        if self.start == self.end:
            raise FieldError("equals start: for all day leave the window out", "end")
        return self


class PaceRules(Rules):
    """How fast. The default finds the rate the site tolerates and stays under it."""

    rate: Rate = None
    """`auto` (default): learned. A number or `30/min`: a ceiling. `unlimited`: your own servers only."""
    burst: Annotated[int, Field(ge=1, le=100)] = 1
    """Requests that may go at once after a pause."""
    concurrency: Annotated[int, Field(ge=1, le=64)] | None = None
    """Requests in flight at once: 1 to 5 (default 5); up to 64 with `rate: unlimited` (default 16)."""
    jitter: Annotated[float, Field(ge=0, le=0.9)] = 0.3
    """Each gap is stretched by up to this share, so that requests do not tick like a clock."""
    crawl_delay: Literal["obey", "ignore"] | Annotated[float, Field(ge=0)] = "obey"
    """`obey` the Crawl-delay of robots.txt, `ignore` it, or seconds of your own."""
    crawl_delay_max: Duration = 60.0
    """A longer Crawl-delay puts the domain off rather than holding a worker."""
    ramp_up: Duration | None = None
    """Half the rate for this long at the start. Default: 2 minutes for a fixed rate, slow start for `auto`."""
    min_rate: Rate = 1 / 60
    """The floor of learning: throttled here, the domain is paused."""
    max_rate: Rate = 200.0
    """The ceiling of learning for `auto`."""
    retry_after_max: Duration = 900.0
    """A longer Retry-After puts the domain off to a later night."""
    window: Window | None = None
    """Off-peak hours; a crawl that meets the end checkpoints and ends."""

    @field_validator("min_rate", "max_rate")
    @classmethod
    def _number(cls, value: float | None) -> float | None:
        if value is None:
            raise ValueError("write a number here, such as 0.5 or '30/min'")
        return value

    @model_validator(mode="after")
    def _concurrency_limit(self) -> PaceRules:
        if self.concurrency is not None and self.concurrency > 5 and self.rate != float("inf"):
            raise FieldError("above 5 needs 'rate: unlimited' (a server of your own)", "concurrency")
        return self

    @model_validator(mode="after")
    def _floor_below_ceiling(self) -> PaceRules:
        if isinstance(self.rate, float) and self.rate < (self.min_rate or 0.0):
            raise FieldError(
                "is below min_rate, where a domain is paused: raise it or lower min_rate", "rate"
            )
        if (self.min_rate or 0.0) > (self.max_rate or 0.0):
            raise FieldError("is above max_rate: lower it", "min_rate")
        return self
