"""Dates as pages write them. Numbered cases of `read_date`:

1. the field gives a format: that one and nothing else;
2. ISO 8601 (2024-03-12, 20240312, 2024-03-12T10:00:00Z, 2024-W11-2): the date as written, zone and all;
3. the forms of HTTP and mail (RFC 9110, RFC 5322);
4. year first with any mark: 2024/3/12, 2024.03.12, 2024年3月12日;
5. numbers with dots: day first (12.03.2024);
6. numbers with slashes or dashes: only where one of the two cannot be a month, or both are equal; else it is
   refused, because a guess would be wrong half of the time: give `date_format`;
7. a month by name in one of seven languages: 12 March 2024, March 12th, 2024, 12. März 2024, 12 de mayo de 2024.

Two-digit years are refused outside of case 1 and 3. A text may have words around its date.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from resources.web.http_date import parse_http_date

from .bad_value import BadValue
from .numbers import plain

__all__ = ["read_date"]

_MONTHS = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "jänner feber mär apr mai jun jul aug sept okt nov dez",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "janv févr mars avr mai juin juil aout sept oct nov déc",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "ene feb mar abr may jun jul ago set oct nov dic",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "gen feb mar apr mag giu lug ago set ott nov dic",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "jan feb mrt apr mei jun jul aug sep okt nov dec",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "jan fev mar abr mai jun jul ago set out nov dez",
    )
    for number, name in enumerate(names.split(), 1)
}
#: Longer texts are prose: only their beginning is searched.
_LONGEST = 200
_ISO = re.compile(
    r"(?<![0-9])([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}|[0-9]{4}-?W[0-9]{2}-?[1-7])(?=$|[^0-9])", re.ASCII
)
_YEAR_FIRST = re.compile(r"(?<![0-9])([0-9]{4})\s?[-/.年]\s?([0-9]{1,2})\s?[-/.月]\s?([0-9]{1,2})(?![0-9])")
_NUMBERS = re.compile(r"(?<![0-9])([0-9]{1,2})\s?([-/.])\s?([0-9]{1,2})\s?\2\s?([0-9]{4})(?![0-9])")
_DAY_MONTH = re.compile(
    r"(?<![0-9])([0-9]{1,2})(?:st|nd|rd|th|er|º|ª|\.)?[\s,-]+(?:of\s+|de\s+)?([^\W\d_]{3,12})\.?[\s,-]+(?:de\s+|del\s+)?([0-9]{4})(?![0-9])"
)
_MONTH_DAY = re.compile(r"([^\W\d_]{3,12})\.?[\s-]+([0-9]{1,2})(?:st|nd|rd|th)?[\s,-]+([0-9]{4})(?![0-9])")


def read_date(text: str, date_format: str | None = None) -> date:
    """The date in `text`; BadValue tells why there is none. See the module docstring."""
    if date_format is not None:
        try:
            return datetime.strptime(text.strip(), date_format).date()
        except (ValueError, re.error) as error:
            raise BadValue(f"{text[:80]!r} is not written as {date_format!r} ({error})") from None
    words = " ".join(plain(text[:_LONGEST]).split())
    return (
        _iso(words) or _mail(words) or _year_first(words) or _numbers(words) or _named(words) or _refuse(text)
    )


def _refuse(text: str) -> date:
    raise BadValue(f"no date in {text[:80]!r}; give date_format if it is one")


def _made(year: str, month: int | str, day: str, text: str) -> date:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        raise BadValue(f"{text[:80]!r} names a day that does not exist") from None


def _iso(text: str) -> date | None:
    found = _ISO.search(text)
    if found is None:
        return None
    try:
        return date.fromisoformat(found[1])
    except ValueError:
        # Eight digits may be an article number beside a real date.
        if found[1].isdigit():
            return None
        raise BadValue(f"{text[:80]!r} names a day that does not exist") from None


def _mail(text: str) -> date | None:
    if ":" not in text:
        return None
    epoch = parse_http_date(text, lenient=True)
    return datetime.fromtimestamp(epoch, UTC).date() if epoch is not None else None


def _year_first(text: str) -> date | None:
    found = _YEAR_FIRST.search(text)
    return _made(found[1], found[2], found[3], text) if found else None


def _numbers(text: str) -> date | None:
    found = _NUMBERS.search(text)
    if found is None:
        return None
    first, mark, second, year = found.groups()
    if mark == "." or int(first) > 12 or first == second:
        return _made(year, second, first, text)
    if int(second) > 12:
        return _made(year, first, second, text)
    raise BadValue(f"{found[0]!r} may be day or month first: give date_format, such as '%d/%m/%Y'")


def _named(text: str) -> date | None:
    for found in _DAY_MONTH.finditer(text):
        if month := _MONTHS.get(found[2].lower()):
            return _made(found[3], month, found[1], text)
    for found in _MONTH_DAY.finditer(text):
        if month := _MONTHS.get(found[1].lower()):
            return _made(found[3], month, found[2], text)
    return None
