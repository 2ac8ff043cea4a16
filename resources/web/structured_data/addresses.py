"""Addresses in structured data: absolute where they can be, as written where not."""

from __future__ import annotations

from ada_url import join_url
from selectolax.lexbor import LexborHTMLParser

__all__ = ["Resolver"]


class Resolver:
    """Resolves against the page's base URL (WHATWG HTML §4.2.3: the first `base` with an href counts)."""

    def __init__(self, tree: LexborHTMLParser, base_url: str) -> None:
        self._tree, self._url = tree, base_url
        self._base: str | None = None

    @property
    def base(self) -> str:
        """The base URL, looked up when the first address is resolved; "" when there is none."""
        if self._base is None:
            self._base = self._url
            element = self._tree.css_first("base[href]")
            if element is not None:
                self._base = self._join(self._url, (element.attrs.get("href") or "").strip()) or self._url
        return self._base

    def absolute(self, written: str) -> str:
        """The address in WHATWG form; what cannot be resolved stays as it is, but for blanks around."""
        trimmed = written.strip()
        return self._join(self.base, trimmed) or trimmed

    @staticmethod
    def _join(base: str, reference: str) -> str | None:
        try:
            return join_url(base, reference) if base else None
        except ValueError:
            return None
