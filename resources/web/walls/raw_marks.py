"""One pass over the raw body: what can there be in its tree at all?

Collecting the places that vendors leave marks in (attributes, scripts, comments) costs more than all else the
judge does, and ordinary pages hold no mark. The pass is a superset: each pattern of the tables is widened until
it no longer asks where in the body its match stands (no anchors, no `#id` or tag prefix, no limits on what lies
between). An ASCII character written as a character reference could hide a mark, so a body with one of those
(quotes and angles apart) has to be looked at as well. Cost: 3 ns a byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import re2

from .markers import STRONG_MARKS, WIDGETS
from .scan import in_re2_syntax

__all__ = ["NOT_TEXT", "Glance", "glance"]

#: Not prose: code samples quote the very words we look for; noscript is judged apart.
NOT_TEXT = (
    "script",
    "style",
    "pre",
    "code",
    "samp",
    "kbd",
    "template",
    "noscript",
    "svg",
    "textarea",
    "select",
)
#: What a hidden element has in its tag: the attribute, or a style that says so or may say so in references.
_HIDING = (
    r"[\s\"'/]hidden[\s=>/]"
    r"|style\s*=\s*(?:\"[^\"]*|'[^']*|[^\s>\"'][^\s>]*|)(?:display|visib|&#)"
)

#: What `signs` looks for beside the tables: password fields, paywalls, parking pages, refreshes.
_BESIDES = (
    r"type\s*=\s*[\"']?\s*password",
    r"isaccessibleforfree",
    r"paywall",
    r"sedo(parking)?\.|parkingcrew|bodis\.com|hugedomains|afternic|//dan\.com|parklogic|domainmarket",
    r"undeveloped\.com|uniregistry|above\.com/|namedrive|voodoo\.com|/park(ing)?\.js|d38psrni17bvxu|i\.cdnpark",
    r"window\.park\s*=",
    r"http-equiv\s*=\s*[\"']?\s*refresh",
)
#: References to ASCII characters but " & ' < >, as numbers and by the names that some of them have.
_REFERENCES = (
    r"&#0*(?:9|1[03]|3[2-35-7]|4\d|5\d|6[13-9]|[7-9]\d|1[01]\d|12[0-7])(?:\D|$)",
    r"&#x0*(?:9|a|d|2[013-58-9a-f]|3[0-9abdf]|[4-7][0-9a-f])(?:[^0-9a-f]|$)",
    r"&(?:sol|period|lowbar|underbar|num|equals|quest|colon|commat|tab|newline|lpar|rpar|excl|dollar|percnt|"
    r"ast|plus|comma|semi|lsqb|lbrack|bsol|rsqb|rbrack|hat|grave|lcub|lbrace|verbar|vert|verticalline|rcub|rbrace);",
)
#: `^#`, `^[.#]`, `^iframe `, `^(img|form) \S*`: where a mark stands, not what it says.
_PLACE = re.compile(r"\^(?:\[[.#@]+\]|#|\\\.|@|(?:\(\w+(?:\|\w+)*\)|\w+) (?:\\S\*)?)?")
_LIMIT = re.compile(r"\{0,\d+\}")
#: "index" alone is half the web; as the whole address of a form it is a mark.
_WHOLE = (
    "(CaptchaRedirect|index)",
    r"(?:captcharedirect|action\s*=\s*[\"']?\s*index(?:[\"'>\s/]|$))",
)


def _anywhere(pattern: str) -> str:
    loose = _LIMIT.sub("*", _PLACE.sub("", pattern)).replace("$", "").replace(*_WHOLE)
    found = in_re2_syntax(loose)
    if found is None:
        raise ValueError(f"RE2 cannot express {pattern!r}: spell the mark without look-arounds")
    return found


@dataclass(frozen=True, slots=True)
class Glance:
    """`marks`: there may be a mark in a zone `source`, `script`, `name` or `comment`; `hiding`: a hidden element;
    `not_text`: which of the tags `NOT_TEXT`. What is not said here is certainly not in the body."""

    marks: bool
    hiding: bool
    not_text: tuple[str, ...]


def _compiled() -> re2.Set:
    marks = [m.pattern.pattern for m in (*STRONG_MARKS, *WIDGETS) if m.zone not in ("text", "title")]
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = 64 << 20
    found = re2.Set.SearchSet(options)
    for tag in NOT_TEXT:
        found.Add(f"<{tag}")
    found.Add(_HIDING)
    found.Add("|".join(f"(?:{one})" for one in (*map(_anywhere, marks), *_BESIDES, *_REFERENCES)))
    found.Compile()
    return found


_SET = _compiled()


def glance(body: bytes) -> Glance:
    """See `Glance`; `body` is UTF-8."""
    found = sorted(_SET.Match(body) or ())
    return Glance(
        len(NOT_TEXT) + 1 in found,
        len(NOT_TEXT) in found,
        tuple(NOT_TEXT[n] for n in found if n < len(NOT_TEXT)),
    )
