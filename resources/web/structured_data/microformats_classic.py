"""Classic microformats: the class names of before microformats2, as the names they stand for now.

Pages of content systems and themes carry them still (`hentry`, `vcard`). A classic root is read only where an element
has no `h-` root, and inside it only the properties listed here (microformats.org: "backward compatible parsing").
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CLASSIC", "Classic"]

#: Class → the microformats2 classes it stands for: properties, and roots where the value is an object.
Classic = Mapping[str, tuple[str, ...]]

_ADR = {
    name: (f"p-{name}",)
    for name in (
        *("post-office-box", "extended-address", "street-address", "locality", "region", "postal-code"),
        "country-name",
    )
}
_GEO = {"latitude": ("p-latitude",), "longitude": ("p-longitude",)}
_CARD = {
    "fn": ("p-name",),
    "url": ("u-url",),
    "org": ("p-org",),
    "organization-name": ("p-organization-name",),
    "organization-unit": ("p-organization-unit",),
    "n": ("p-n",),
    "honorific-prefix": ("p-honorific-prefix",),
    "given-name": ("p-given-name",),
    "additional-name": ("p-additional-name",),
    "family-name": ("p-family-name",),
    "honorific-suffix": ("p-honorific-suffix",),
    "nickname": ("p-nickname",),
    "email": ("u-email",),
    "tel": ("p-tel",),
    "photo": ("u-photo",),
    "logo": ("u-logo",),
    "adr": ("p-adr", "h-adr"),
    "geo": ("p-geo", "h-geo"),
    "bday": ("dt-bday",),
    "title": ("p-job-title",),
    "role": ("p-role",),
    "note": ("p-note",),
    "category": ("p-category",),
    "uid": ("u-uid",),
    **_ADR,
}
_ENTRY = {
    "entry-title": ("p-name",),
    "entry-summary": ("p-summary",),
    "entry-content": ("e-content",),
    "published": ("dt-published",),
    "updated": ("dt-updated",),
    "author": ("p-author", "h-card"),
    "category": ("p-category",),
}
_EVENT = {
    "summary": ("p-name",),
    "dtstart": ("dt-start",),
    "dtend": ("dt-end",),
    "duration": ("dt-duration",),
    "description": ("p-description",),
    "url": ("u-url",),
    "category": ("p-category",),
    "location": ("p-location",),
    "geo": ("p-location", "h-geo"),
    "attendee": ("p-attendee",),
    "contact": ("p-contact",),
    "organizer": ("p-organizer",),
}
_PRODUCT = {
    "fn": ("p-name",),
    "photo": ("u-photo",),
    "brand": ("p-brand",),
    "category": ("p-category",),
    "description": ("p-description",),
    "identifier": ("u-identifier",),
    "url": ("u-url",),
    "review": ("p-review", "h-review"),
    "price": ("p-price",),
}
_REVIEW = {
    "summary": ("p-name",),
    "item": ("p-item", "h-item"),
    "reviewer": ("p-author", "h-card"),
    "dtreviewed": ("dt-published",),
    "rating": ("p-rating",),
    "best": ("p-best",),
    "worst": ("p-worst",),
    "description": ("e-content",),
}
_ITEM = {"fn": ("p-name",), "url": ("u-url",), "photo": ("u-photo",)}
_RECIPE = {
    "fn": ("p-name",),
    "ingredient": ("p-ingredient",),
    "yield": ("p-yield",),
    "instructions": ("e-instructions",),
    "duration": ("dt-duration",),
    "photo": ("u-photo",),
    "summary": ("p-summary",),
    "author": ("p-author", "h-card"),
    "published": ("dt-published",),
    "nutrition": ("p-nutrition",),
    "category": ("p-category",),
}

#: Classic root → (root it stands for, its properties).
CLASSIC: Mapping[str, tuple[str, Classic]] = {
    "adr": ("h-adr", _ADR),
    "geo": ("h-geo", _GEO),
    "vcard": ("h-card", _CARD),
    "hentry": ("h-entry", _ENTRY),
    "hfeed": ("h-feed", {"entry-title": ("p-name",), "author": ("p-author", "h-card"), "photo": ("u-photo",)}),
    "hnews": ("h-news", {"entry": ("p-entry", "h-entry"), "source-org": ("p-source-org",)}),
    "hproduct": ("h-product", _PRODUCT),
    "hrecipe": ("h-recipe", _RECIPE),
    "hreview": ("h-review", _REVIEW),
    "hreview-aggregate": (
        "h-review-aggregate",
        {**_REVIEW, "average": ("p-average",), "count": ("p-count",), "votes": ("p-votes",)},
    ),
    "item": ("h-item", _ITEM),
    "vevent": ("h-event", _EVENT),
}  # fmt: skip
#: Roots that are words of every page: a root only where a property of another asks for one.
INNER_ONLY = frozenset({"adr", "geo", "item"})
