"""Which element a name means: the stack of open elements and the namespaces in force.

Names count by their local part, in lower case. What matters of a namespace is its family: CORE for the sitemap
or feed vocabulary and for any namespace nobody knows (generators write wrong ones all the time), or the short
name of a known extension. A prefix that is not declared means what it means everywhere else.
"""

from __future__ import annotations

from .markup import attributes

__all__ = ["CORE", "Elements", "Scope"]

CORE = ""

#: Fragments of namespace names (versions differ) → family. Google's sitemap extensions, and the vocabularies
#: that feeds carry whose elements share names with the feed's own (`link`, `title`, `date`).
_FAMILIES = (
    ("schemas/sitemap-image", "image"),
    ("schemas/sitemap-video", "video"),
    ("schemas/sitemap-news", "news"),
    ("schemas/sitemap-mobile", "mobile"),
    ("schemas/sitemap-pagemap", "pagemap"),
    ("schemas/sitemap-content", "content"),
    ("schemas/sitemap-geo", "geo"),
    ("schemas/sitemap-code", "code"),
    ("w3.org/1999/xhtml", "xhtml"),
    ("w3.org/2005/atom", "atom"),
    ("purl.org/atom/ns", "atom"),
    ("purl.org/rss/1.0/modules", "module"),
    ("purl.org/dc/", "dc"),
    ("search.yahoo.com/mrss", "media"),
    ("itunes.com/dtds", "itunes"),
    ("rssnamespace.org/feedburner", "feedburner"),
    ("base.google.com", "merchant"),
)
_PREFIXES = {
    "image",
    "video",
    "news",
    "mobile",
    "xhtml",
    "atom",
    "dc",
    "media",
    "itunes",
    "feedburner",
    "geo",
}


def _family(namespace: str) -> str:
    lowered = namespace.strip().lower()
    return next((family for part, family in _FAMILIES if part in lowered), CORE)


class Scope:
    """The prefixes in force over some part of the document, and what names were found to mean under them."""

    #: Names and prefixes remembered; a hostile file could use a new one in every tag.
    MOST = 1_000

    def __init__(self, prefixes: dict[str, str], core: str) -> None:
        self._prefixes, self._core = prefixes, core
        self._names: dict[str, tuple[str, str]] = {}

    def name(self, written: str) -> tuple[str, str]:
        """(family, local name)."""
        known = self._names.get(written)
        if known is None:
            prefix, _, local = written.rpartition(":")
            family = self._prefixes.get(prefix)
            if family is None:
                family = prefix.lower() if prefix.lower() in _PREFIXES else CORE
            known = (CORE if family == self._core else family, local.lower())
            if len(self._names) < self.MOST:
                self._names[written] = known
        return known

    def within(self, source: str) -> Scope:
        """The scope of an element whose attributes declare namespaces."""
        declared = {
            name[6:]: _family(value)
            for name, value in attributes(source).items()
            if name == "xmlns" or name.startswith("xmlns:")
        }
        if not declared or len(self._prefixes) > self.MOST:
            return self
        return Scope({**self._prefixes, **declared}, self._core)


class Elements:
    """The stack. `core` names a family that is the document's own: `atom` in an Atom feed."""

    def __init__(self, depth: int, core: str = CORE) -> None:
        self._depth = depth
        self.scope = Scope({}, core)
        #: (name as written, family, local name, scope outside)
        self.open: list[tuple[str, str, str, Scope]] = []
        #: Elements that are open below the depth that is tracked: they are counted only.
        self._beyond = 0

    def name(self, written: str, source: str) -> tuple[str, str]:
        """What an element means that has no children to be tracked."""
        scope = self.scope.within(source) if "xmlns" in source else self.scope
        return scope.name(written)

    def push(self, written: str, source: str) -> tuple[str, str]:
        """An element begins; what it means."""
        outside = self.scope
        if len(self.open) >= self._depth:
            self._beyond += 1
            return outside.name(written)
        if "xmlns" in source:
            self.scope = outside.within(source)
        family, local = self.scope.name(written)
        self.open.append((written, family, local, outside))
        return family, local

    def closing(self, written: str) -> int | None:
        """Position of the element that this end tag ends; None for an end tag without a beginning."""
        if self._beyond:
            self._beyond -= 1
            return None
        for at in range(len(self.open) - 1, -1, -1):
            if self.open[at][0] == written:
                return at
        return None

    def cut(self, at: int) -> None:
        """The elements from position `at` on have ended."""
        self.scope = self.open[at][3]
        del self.open[at:]
