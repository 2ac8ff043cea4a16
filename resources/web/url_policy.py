"""What a site may say about its URLs beyond what the standards say: one frozen value.

The defaults merge nothing that can select content. Everything else is a statement about one site ("here the
order of parameters does not matter") which only the owner of the site file can make.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .tracking_parameters import TRACKING_PARAMETERS

__all__ = ["DEFAULT_POLICY", "ParameterFilter", "UrlPolicy"]


class ParameterFilter:
    """Which query parameters leave the canonical form; built once per policy, two lookups per parameter."""

    __slots__ = ("_drop", "_drop_prefixes", "_keep", "_keep_prefixes", "_tracking")

    def __init__(self, drop: tuple[str, ...], keep: tuple[str, ...] | None, tracking: bool) -> None:
        self._drop, self._drop_prefixes = _split_patterns(drop)
        self._keep: frozenset[str] | None = None
        self._keep_prefixes: tuple[str, ...] = ()
        if keep is not None:
            self._keep, self._keep_prefixes = _split_patterns(keep)
        self._tracking = TRACKING_PARAMETERS if tracking else frozenset()

    def drops(self, name: str) -> bool:
        """Whether the parameter of this (percent-normalized) name is left out."""
        if name in self._drop or name.startswith(self._drop_prefixes):
            return True
        if self._keep is not None and not (name in self._keep or name.startswith(self._keep_prefixes)):
            return True
        return name.lower() in self._tracking


@dataclass(frozen=True)
class UrlPolicy:
    """How the canonical form of a site's URLs is made. Picklable, hashable, compared by value.

    - ``sort_query``: parameters ordered by name, then value. Off: order may select content.
    - ``drop_parameters``: names to leave out, case-sensitive; ``sess*`` drops every name with that prefix.
    - ``keep_parameters``: when given, only these (same patterns) survive; None keeps all.
    - ``drop_tracking``: leave out the names in `tracking_parameters`. On: each of them is set by an
      advertising or mailing system for its own books and selects no content.
    - ``trailing_slash``: ``strip`` calls ``/a/`` the same as ``/a``; ``add`` gives a slash to a last segment
      without a dot.
    - ``index_pages``: file names that stand for their folder (``index.html``).
    - ``keep_blank``: off, parameters with an empty value are left out.
    - ``drop_query``: the query selects nothing on this site and is left out whole.
    """

    sort_query: bool = False
    drop_parameters: tuple[str, ...] = ()
    keep_parameters: tuple[str, ...] | None = None
    drop_tracking: bool = True
    trailing_slash: Literal["keep", "strip", "add"] = "keep"
    index_pages: tuple[str, ...] = ()
    keep_blank: bool = True
    drop_query: bool = False

    @cached_property
    def parameter_filter(self) -> ParameterFilter | None:
        """None when every parameter is kept, so that the common case costs nothing."""
        if not self.drop_parameters and self.keep_parameters is None and not self.drop_tracking:
            return None
        return ParameterFilter(self.drop_parameters, self.keep_parameters, self.drop_tracking)

    @cached_property
    def touches_path(self) -> bool:
        return self.trailing_slash != "keep" or bool(self.index_pages)

    @cached_property
    def touches_query(self) -> bool:
        return self.sort_query or not self.keep_blank or self.drop_query or self.parameter_filter is not None

    def __getstate__(self) -> dict[str, object]:
        """Only the fields: derived values are rebuilt on the other side."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def _split_patterns(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    exact = frozenset(p for p in patterns if not p.endswith("*"))
    return exact, tuple(p[:-1] for p in patterns if p.endswith("*"))


DEFAULT_POLICY = UrlPolicy()
