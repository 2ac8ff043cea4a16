"""Signs of a wall in a page, strong and weak, and what they add up to.

Points: a whole title or first heading 3, a sentence its weight in `phrases`, a captcha widget 2, a fitting form
or script 2, very little text 1, an error status 2. Four make a wall, and only on a page with little text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from .expression import Expression
from .header_marks import LOCATION_MARKS
from .markers import STRONG_MARKS, WIDGETS, Mark
from .page import CONTENT, ROOT_WEIGHT, SHELL, Page
from .phrases import EXPLAINING, JS_REQUIRED, LOGIN_URL, NOT_FOUND_TEXT, NOT_FOUND_TITLE, SENTENCES, TITLES
from .quick import TITLE_SCAN, title_segments
from .scan import Scan

__all__ = ["Sign", "score", "strong_sign", "structure"]

#: A page with more text than this has content of its own; only strong marks and error statuses go beyond.
_LITTLE = 1500
_VERY_LITTLE = 250
#: On equal points the more telling kind wins.
_ORDER = (
    "captcha",
    "challenge",
    "rate_limit",
    "geo_block",
    "queue",
    "hard_block",
    "parked",
    "soft_404",
    "maintenance",
    "paywall",
    "login_wall",
    "consent_wall",
    "js_required",
)
_ON_ERROR = frozenset({"captcha", "challenge", "rate_limit", "geo_block", "hard_block", "login_wall"})
#: Cloudflare's 1xxx codes: what the visitor did, where he is, how fast he was; the rest are the owner's errors.
_CODE = re.compile(r"\b(1\d{3})\b")
_PLAIN_CODE = re.compile(r"error code: ?(1\d{3})")
_CODE_KIND = {1009: "geo_block", 1015: "rate_limit", 1027: "rate_limit"} | dict.fromkeys(
    (1003, 1005, 1006, 1007, 1008, 1010, 1011, 1012, 1013, 1017, 1020, 1106), "hard_block"
)
_ROOTS = re.compile(
    r"^#(root|app|application|main-?app|__next|__nuxt|___gatsby|svelte|q-app|react-?root|ember\d*)$", re.I
)
_NO_RESULTS = Expression(
    r"\b(no|0) (search )?(results|matches|hits|products|items|entries) (were |was )?(found )?(for|matching)\b|(did not|didn't) match any (results|products|documents)|keine (ergebnisse|treffer|produkte) (für|gefunden)|aucun résultat (pour|trouvé)|sin resultados para|no se (han )?encontra\w+ resultados|nessun risultato per|nenhum resultado para|geen resultaten (voor|gevonden)|ничего не найдено|brak wyników"
)
_SEARCH_URL = re.compile(
    r"[?#]|search|suche|recherche|busca|busqueda|cerca|ricerca|zoek|find|filter|query|tag|categor", re.I
)
_PARKING = re.compile(
    r"sedo(parking)?\.|parkingcrew|bodis\.com|hugedomains|afternic|//dan\.com|parklogic|domainmarket|undeveloped\.com|uniregistry|above\.com/|namedrive|voodoo\.com|/park(ing)?\.js|d38psrni17bvxu|i\.cdnpark",
    re.I,
)
_PARKED = re.compile(r"window\.park\s*=")
#: 15 characters and more in quotation marks, as `normal` leaves them; an apostrophe stands behind a letter.
#: Each alternative begins with a letter of its own, and none with a look: so `re` leaps to where one may begin.
_QUOTED = re.compile(
    r"\"[^\"„]{15,300}\"|„[^\"„]{15,300}\"|«[^«»]{15,300}[«»]|»[^«»]{15,300}[«»]|「[^「」]{8,300}」"
    r"|'(?<!\w')[^']{15,300}'(?!\w)"
)
_ADDRESSED = re.compile(r"\byou(r|'ve|'re)?\b")
_EXPLAINED = frozenset({"soft_404", "rate_limit", "hard_block", "geo_block", "maintenance"})
_Add = Callable[[str, int, str], None]
_FREE_FALSE = re.compile(r'"isAccessibleForFree"\s*:\s*"?false', re.I)


@dataclass(frozen=True, slots=True)
class Sign:
    """A kind with its evidence (one line each) and points."""

    kind: str
    vendor: str | None
    evidence: str
    points: int


def strong_sign(page: Page, *, error: bool) -> Sign | None:
    """The first strong mark of a vendor that counts on a page with this much text.

    What stands in the visible text can be a quotation, so there an answer that claims success needs less text
    around it than one with an error status.
    """
    code = _cloudflare_code(page)
    if code is not None:
        return code
    zones = _marked_zones(page) | {"text": page.text[:CONTENT], "title": page.title, "comment": page.comments}
    for zone, most in _MOST[error].items():
        if page.weight > most:
            zones[zone] = ""  # with so much text none of its marks counts
    for mark in _possible(STRONG_MARKS, _STRONG_SCANS, zones):
        if page.weight <= _most(mark, error=error) and (found := _search(mark, zones)):
            return Sign(mark.kind, mark.vendor, f"{mark.zone} {found}", 8)
    return None


def _most(mark: Mark, *, error: bool) -> int:
    """With how much text on the page the mark counts."""
    return mark.thin if error or mark.zone != "text" else min(mark.thin, _LITTLE)


def _scans(marks: Sequence[Mark]) -> dict[str, tuple[list[int], Scan]]:
    """By zone: the places of its marks in the table, and one scan over them."""
    zones: dict[str, list[int]] = {}
    for place, mark in enumerate(marks):
        zones.setdefault(mark.zone, []).append(place)
    return {zone: (places, Scan([marks[p].pattern for p in places])) for zone, places in zones.items()}


_STRONG_SCANS = _scans(STRONG_MARKS)
#: By whether the status is an error: for each zone, with how much text any of its marks counts.
_MOST = {
    error: {
        zone: max(_most(STRONG_MARKS[place], error=error) for place in places)
        for zone, (places, _) in _STRONG_SCANS.items()
    }
    for error in (False, True)
}
_WIDGET_SCANS = _scans(WIDGETS)
#: The last one: a search without results.
_SENTENCE_SCAN = Scan([*(phrase.pattern for phrase in SENTENCES), _NO_RESULTS])
_LOCATION_SCAN = Scan([pattern for pattern, _, _ in LOCATION_MARKS])


def _possible(
    marks: Sequence[Mark], scans: dict[str, tuple[list[int], Scan]], zones: dict[str, str]
) -> list[Mark]:
    """The marks that can be found in their zones at all, in the order of the table."""
    places: list[int] = []
    for zone, (table, scan) in scans.items():
        places += [table[number] for number in scan.candidates(zones[zone])]
    return [marks[place] for place in sorted(places)]


def _marked_zones(page: Page) -> dict[str, str]:
    """The zones from the tree; empty where it is known that no mark stands in them."""
    if not page.marks:
        return {"source": "", "name": "", "script": ""}
    return {"source": "\n".join(page.sources), "name": "\n".join(page.names), "script": page.script}


def _search(mark: Mark, zones: dict[str, str]) -> str | None:
    zone = zones[mark.zone]
    found = mark.pattern.search(zone) if zone else None
    return found[0][:100].replace("\n", " ") if found else None


def _cloudflare_code(page: Page) -> Sign | None:
    found = _PLAIN_CODE.fullmatch(page.text)
    if found is None and ".cf-error-code" in page.names:
        found = _CODE.search(f"{page.title} {page.text[:CONTENT]}")
    if found is None:
        return None
    code = int(found[1])
    return Sign(_CODE_KIND.get(code, "server_error"), "cloudflare", f"cloudflare error {code}", 8)


def score(page: Page, url: str, status: int) -> Sign | None:
    """The kind with most points, or None if nothing speaks for any."""
    error = status >= 400
    if page.weight > _LITTLE and not error:
        return _long_not_found(page)
    points: dict[str, int] = {}
    evidence: dict[str, list[str]] = {}

    def add(kind: str, weight: int, why: str) -> None:
        points[kind] = points.get(kind, 0) + weight
        evidence.setdefault(kind, []).append(why[:160])

    _titles(page, add)
    text = page.text[:CONTENT]
    if not error:
        # What a page quotes somebody said to somebody else.
        text = _QUOTED.sub(" ", text)
    candidates = _SENTENCE_SCAN.candidates(text)
    for number in candidates:
        if number == len(SENTENCES):
            continue
        phrase = SENTENCES[number]
        if found := phrase.pattern.search(text):
            add(phrase.kind, phrase.weight, f'text "{found[0]}"')
    vendor = _widgets(page, add)
    _surroundings(page, url, add)
    if len(SENTENCES) in candidates or len(page.text) > CONTENT:
        _no_results(page, url, add)
    if not points:
        return None
    if "login_wall" in points and LOGIN_URL.search(urlsplit(url).path) and not error:
        del points["login_wall"]
    for kind in points:
        if page.weight < _VERY_LITTLE:
            points[kind] += 1
        if 400 <= status < 500 and kind in _ON_ERROR:
            points[kind] += 2
        elif kind in _EXPLAINED and EXPLAINING.search(text):
            # A wall speaks to its visitor; an explanation speaks of one.
            points[kind] -= 3 if _ADDRESSED.search(text) else points[kind]
    if not points:
        return None
    best = max(points, key=lambda kind: (points[kind], -_ORDER.index(kind)))
    return Sign(best, vendor if best == "captcha" else None, "\n".join(evidence[best]), points[best])


def _titles(page: Page, add: _Add) -> None:
    segments, headings = title_segments(page.title), page.headings[:3]
    # What may fit one of them may fit a line of them all: one scan instead of half a dozen.
    for number in TITLE_SCAN.candidates("\n".join((*segments, *headings))):
        phrase = TITLES[number]
        titled = next((segment for segment in segments if phrase.pattern.fullmatch(segment)), None)
        if titled is not None:
            add(phrase.kind, phrase.weight, f'title "{titled}"')
        for rank, heading in enumerate(headings):
            if phrase.pattern.fullmatch(heading):
                add(
                    phrase.kind,
                    1 if titled is not None else phrase.weight - (rank > 0),
                    f'heading "{heading}"',
                )
                break


def _widgets(page: Page, add: _Add) -> str | None:
    zones = _marked_zones(page)
    for mark in _possible(WIDGETS, _WIDGET_SCANS, zones):
        if found := _search(mark, zones):
            add("captcha", 2, f"widget {found}")
            return mark.vendor
    return None


def _surroundings(page: Page, url: str, add: _Add) -> None:
    """Forms, scripts and addresses that go with a kind."""
    refreshes: list[str] = []
    if page.detailed:  # else none of these places were collected
        if "password" in page.inputs:
            add("login_wall", 2, "password field")
        if _FREE_FALSE.search(page.script):
            add("paywall", 2, "isAccessibleForFree false")
        if any("paywall" in name.lower() for name in page.names):
            add("paywall", 1, "paywall element")
        if found := _PARKING.search("\n".join(page.sources)):
            add("parked", 3, f"link {found[0]}")
        if _PARKED.search(page.script):
            add("parked", 3, "script window.park")
        refreshes = [source for source in page.sources if source.startswith("meta ")]
    for number in range(len(LOCATION_MARKS)) if refreshes else _LOCATION_SCAN.candidates(url):
        pattern, vendor, kind = LOCATION_MARKS[number]
        if kind in ("consent_wall", "queue") or vendor is not None:
            if pattern.search(url):
                add(kind, 2, f"address {url}")
                break
            refresh = next((each for each in refreshes if pattern.search(each)), None)
            if refresh is not None:
                add(kind, 4, f"refresh to {refresh}")
                break


def _no_results(page: Page, url: str, add: _Add) -> None:
    if (found := _NO_RESULTS.search(page.text)) and not _SEARCH_URL.search(url):
        add("soft_404", 3, f'text "{found[0]}"')


def _long_not_found(page: Page) -> Sign | None:
    """A soft 404 inside the site's usual frame: title, heading and sentence must all say so."""
    if page.weight > 2 * CONTENT:
        return None
    if not any(NOT_FOUND_TITLE.pattern.fullmatch(segment) for segment in title_segments(page.title)):
        return None
    headed = any(NOT_FOUND_TITLE.pattern.fullmatch(heading) for heading in page.headings)
    told = NOT_FOUND_TEXT.pattern.search(page.text) if headed else None
    if told:
        return Sign("soft_404", None, f'title "{page.title}"\ntext "{told[0][:120]}"', 6)
    return None


def structure(page: Page, *, empty: bool) -> Sign | None:
    """A 2xx page without words: nothing at all, or an application that needs a browser."""
    if empty:
        return Sign("empty", None, "no body", 8)
    if page.weight >= SHELL or not page.detailed:
        return None
    asked = JS_REQUIRED.search(page.noscript) or JS_REQUIRED.search(page.text)
    if page.scripts and asked and (page.weight < 100 or JS_REQUIRED.search(page.text)):
        return Sign("js_required", None, f'text "{asked[0]}"', 6)
    refresh = any(source.startswith("meta ") for source in page.sources)
    if page.weight > 0 or page.media or page.links or page.inputs or refresh:
        rooted = page.scripts and page.weight < ROOT_WEIGHT and not page.media and not page.links
        if not rooted or not any(_ROOTS.match(name) for name in page.names):
            return None
        return Sign("js_required", None, "an empty root element and scripts", 5)
    if page.metadata:
        return None
    if page.scripts:
        return Sign("js_required", None, "scripts and no text", 4)
    return Sign("empty", None, "no text, no media, no links", 6) if not page.noscript else None
