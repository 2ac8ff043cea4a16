"""What the site file says about the guard: off, more patient, or not for these URLs and parameters."""

from __future__ import annotations

import json

from resources.site.patterns import PatternSet
from resources.site.rules import TrapRules

__all__ = ["Trust", "advice"]


class Trust:
    """`traps` of a site file, ready to use. `covers` costs nothing where no pattern is written."""

    def __init__(self, rules: TrapRules | None = None) -> None:
        rules = rules if rules is not None else TrapRules()
        self.off = rules.guard == "off"
        self.patience = rules.patience
        self.parameters = rules.trust_parameters
        self._patterns = PatternSet(rules.trust)
        #: Two crawls with the same one judge alike.
        self.mark = json.dumps(rules.model_dump(mode="json"), sort_keys=True)

    @property
    def some(self) -> bool:
        """Whether any URL may be covered."""
        return self.off or bool(self._patterns)

    def covers(self, url: str) -> bool:
        """Whether the guard has no say about `url`."""
        return self.off or (bool(self._patterns) and self._patterns.first(url) is not None)


def advice(reason: str) -> str:
    """What to write into the site file if a URL excluded for `reason` is a real page. `reason`: `trap: endless …`."""
    kind, _, place = reason.removeprefix("trap: ").partition(" ")
    if kind == "session":
        name = place.rpartition(" ")[2].lstrip("?;")
        if name.startswith("/"):
            return "if these are pages of their own: traps.guard: off in the site file"
        return f"if these are pages of their own: traps.trust_parameters: [{name}] in the site file"
    pattern = "/*"
    if "://" in place:
        head = place.rpartition(" ")[2].partition("://")[2].partition("/")[2].partition("#")[0]
        pattern = f"/{head.partition('?')[0] if '?' in head and '=' not in head else head}*"
    return f'if these are pages of their own: traps.trust: ["{pattern}"] in the site file; it is asked again every night'
