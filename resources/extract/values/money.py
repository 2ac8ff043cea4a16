"""Amounts with their currency: signs, ISO 4217 codes, words, before or after the number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from .bad_value import BadValue
from .numbers import NUMBER, decimal_of, plain

__all__ = ["CURRENCIES", "Money", "read_money"]

#: ISO 4217 codes in circulation, and a few of precious metals' neighbours left out on purpose.
CURRENCIES = frozenset(
    [
        "AED",
        "AFN",
        "ALL",
        "AMD",
        "ANG",
        "AOA",
        "ARS",
        "AUD",
        "AWG",
        "AZN",
        "BAM",
        "BBD",
        "BDT",
        "BGN",
        "BHD",
        "BIF",
        "BMD",
        "BND",
        "BOB",
        "BRL",
        "BSD",
        "BTN",
        "BWP",
        "BYN",
        "BZD",
        "CAD",
        "CDF",
        "CHF",
        "CLP",
        "CNY",
        "COP",
        "CRC",
        "CUP",
        "CVE",
        "CZK",
        "DJF",
        "DKK",
        "DOP",
        "DZD",
        "EGP",
        "ERN",
        "ETB",
        "EUR",
        "FJD",
        "FKP",
        "GBP",
        "GEL",
        "GHS",
        "GIP",
        "GMD",
        "GNF",
        "GTQ",
        "GYD",
        "HKD",
        "HNL",
        "HTG",
        "HUF",
        "IDR",
        "ILS",
        "INR",
        "IQD",
        "IRR",
        "ISK",
        "JMD",
        "JOD",
        "JPY",
        "KES",
        "KGS",
        "KHR",
        "KMF",
        "KPW",
        "KRW",
        "KWD",
        "KYD",
        "KZT",
        "LAK",
        "LBP",
        "LKR",
        "LRD",
        "LSL",
        "LYD",
        "MAD",
        "MDL",
        "MGA",
        "MKD",
        "MMK",
        "MNT",
        "MOP",
        "MRU",
        "MUR",
        "MVR",
        "MWK",
        "MXN",
        "MYR",
        "MZN",
        "NAD",
        "NGN",
        "NIO",
        "NOK",
        "NPR",
        "NZD",
        "OMR",
        "PAB",
        "PEN",
        "PGK",
        "PHP",
        "PKR",
        "PLN",
        "PYG",
        "QAR",
        "RON",
        "RSD",
        "RUB",
        "RWF",
        "SAR",
        "SBD",
        "SCR",
        "SDG",
        "SEK",
        "SGD",
        "SHP",
        "SLE",
        "SOS",
        "SRD",
        "SSP",
        "STN",
        "SVC",
        "SYP",
        "SZL",
        "THB",
        "TJS",
        "TMT",
        "TND",
        "TOP",
        "TRY",
        "TTD",
        "TWD",
        "TZS",
        "UAH",
        "UGX",
        "USD",
        "UYU",
        "UZS",
        "VES",
        "VND",
        "VUV",
        "WST",
        "XAF",
        "XCD",
        "XOF",
        "XPF",
        "YER",
        "ZAR",
        "ZMW",
        "ZWL",
    ]
)

#: Signs that mean one currency, longest first when searched. `$`, `¥` and `kr` mean several: the commonest
#: is taken unless the site file names another one.
_SIGNS = {
    "US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "R$": "BRL", "MX$": "MXN", "NT$": "TWD", "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₩": "KRW",
    "₺": "TRY", "₴": "UAH", "₪": "ILS", "₫": "VND", "₦": "NGN", "₱": "PHP", "₡": "CRC", "₲": "PYG", "₸": "KZT",
    "₾": "GEL", "฿": "THB", "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "лв": "BGN", "руб": "RUB", "грн": "UAH",
    "円": "JPY", "元": "CNY", "원": "KRW", "Rs.": "INR", "Rs": "INR", "Euro": "EUR", "euro": "EUR", "EURO": "EUR",
}  # fmt: skip
_SEVERAL = {"$": "USD", "¥": "JPY", "￥": "JPY", "kr": "SEK", "Kr": "SEK", "Fr.": "CHF", "SFr.": "CHF"}
_ALL_SIGNS = _SIGNS | _SEVERAL
#: A sign made of letters must not be part of a word ("Forfait" has no forints).
_SIGN = re.compile(
    "|".join(
        rf"(?<![^\W\d_]){re.escape(s)}(?![^\W\d_])" if s[-1].isalpha() or s[0].isalpha() else re.escape(s)
        for s in sorted(_ALL_SIGNS, key=len, reverse=True)
    )
)
_CODE = re.compile(r"(?<![A-Za-z])([A-Z]{3})(?![A-Za-z])")
#: Room of DECIMAL(18,4).
_LIMIT = Decimal(10) ** 14
_PLACES = Decimal("0.0001")
_FREE = re.compile(r"\s*(?:free|gratis|kostenlos|gratuit)\s*!?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Money:
    """`amount` has at most four decimals; `currency` is an ISO 4217 code, None where nothing names one."""

    amount: Decimal
    currency: str | None


def read_money(text: str, mark: str | None = None, currency: str | None = None) -> Money:
    """The first amount of `text`. `currency`: what a sign of several currencies, or none at all, stands for.

    More than four decimals are rounded half to even. BadValue: no number, or 10^14 and more.
    """
    text = plain(text)
    if _FREE.fullmatch(text):
        return Money(Decimal("0.0000"), currency)
    found = NUMBER.search(text)
    if found is None:
        raise BadValue(f"no amount in {text[:80]!r}")
    value = decimal_of(found["body"], mark, money=True)
    if found["exp"]:
        value = value.scaleb(int(found["exp"][1:]))
    if abs(value) >= _LIMIT:
        raise BadValue(f"{value:g} is more than DECIMAL(18,4) holds")
    before = text[: found.start()]
    if (found["sign"] or "").startswith("-") or re.search(r"-\s*[^\w\s.,]{1,3}\s*$", before):
        value = -value
    return Money(value.quantize(_PLACES, ROUND_HALF_EVEN), _currency(before, text[found.end() :], currency))


def _currency(before: str, after: str, given: str | None) -> str | None:
    """Numbered cases: 1. an ISO code beside the number; 2. a sign of one currency; 3. what the field says;
    4. the commonest meaning of a sign of several. After the number first only where nothing stands before.
    """
    sides = (before[-12:], after[:12])
    for side in sides:
        for code in _CODE.findall(side):
            if code in CURRENCIES:
                return str(code)
    signs = [m.group() for side in sides for m in _SIGN.finditer(side)]
    for sign in signs:
        if sign in _SIGNS:
            return _SIGNS[sign]
    if given is not None:
        return given
    return _SEVERAL[signs[0]] if signs else None
