"""Open Graph and Twitter card properties (ogp.me): a list in document order, which is what ties
`og:image:width` to its image and makes arrays.

`property` or `name` carries the name, prefixes need no declaration, case does not matter. Where one value is
asked for, the first wins. Addresses are made absolute.
"""

from __future__ import annotations

from .addresses import Resolver

__all__ = ["PREFIXES", "first", "property_names", "value"]

#: ogp.me's own vocabularies, and those that pages use beside them.
PREFIXES = frozenset(
    {
        *("og", "article", "book", "profile", "video", "music", "website", "fb", "product", "place"),
        *("business", "restaurant", "books", "game", "twitter", "al"),
    }
)
#: Last parts of names whose values are addresses.
_ADDRESSES = frozenset(
    {"url", "secure_url", "image", "video", "audio", "src", "see_also", "player", "image0"}
)


def property_names(name: str) -> list[str]:
    """The Open Graph names in a `property` (a list of names in RDFa) or `name` attribute, in lower case."""
    if ":" not in name:
        return []
    return [token for token in name.lower().split() if token.partition(":")[0] in PREFIXES]


def value(name: str, content: str, resolver: Resolver) -> str:
    """`content` as the value of `name`: trimmed, and absolute where it is an address."""
    content = content.strip()
    if content and name.rpartition(":")[2] in _ADDRESSES and name.startswith(("og:", "twitter:")):
        return resolver.absolute(content)
    return content


def first(properties: list[tuple[str, str]], name: str) -> str | None:
    """The value that counts: the first that is not empty."""
    return next((content for key, content in properties if key == name and content), None)
