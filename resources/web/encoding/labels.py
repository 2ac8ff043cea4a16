"""The WHATWG table of encoding names and the labels that mean them (Encoding Standard, section 4.2).

A label on the web is not a codec name: `latin1` and `ascii` mean windows-1252, `gb2312` means gbk, `utf-7`
and `utf-32` mean nothing. `codecs.lookup` answers a different question and must not be asked.

Cost: one dict built at import (about 230 entries), one lookup a label.
"""

from __future__ import annotations

__all__ = ["ENCODINGS", "encoding_for_label", "labels_of"]

# Name -> its other labels. ISO and Windows families follow patterns; those labels are added below.
_OTHER_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866",
    "iso-8859-2": "csisolatin2 iso-ir-101 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-ir-109 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-ir-110 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso_8859-5:1988",
    "iso-8859-6": (
        "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i "
        "iso-ir-127 iso_8859-6:1987"
    ),
    "iso-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso_8859-7:1987 sun_eu_greek",
    "iso-8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso_8859-8:1988 visual",
    "iso-8859-8-i": "csiso88598i logical",
    "iso-8859-10": "csisolatin6 iso-ir-157 l6 latin6",
    "iso-8859-13": "",
    "iso-8859-14": "",
    "iso-8859-15": "csisolatin9 iso_8859-15 l9",
    "iso-8859-16": "",
    "koi8-r": "cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "macintosh": "csmacintosh mac x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "windows-1250": "",
    "windows-1251": "",
    "windows-1252": (
        "ansi_x3.4-1968 ascii cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 "
        "iso_8859-1:1987 l1 latin1 us-ascii"
    ),
    "windows-1253": "",
    "windows-1254": (
        "csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5"
    ),
    "windows-1255": "",
    "windows-1256": "",
    "windows-1257": "",
    "windows-1258": "",
    "x-mac-cyrillic": "x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk",
    "gb18030": "",
    "big5": "big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese x-euc-jp",
    "iso-2022-jp": "csiso2022jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis",
    "euc-kr": (
        "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949"
    ),
    "replacement": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr",
    "utf-16be": "unicodefffe",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16",
    "x-user-defined": "",
}

#: Every encoding of the standard, by its name in lower case.
ENCODINGS = tuple(_OTHER_LABELS)

# iso-8859-N whose labels also come without the first hyphen and, for the old parts, with an underscore.
_ISO_SHORT = (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15)
_ISO_UNDERSCORE = (2, 3, 4, 5, 6, 7, 8)


def _table() -> dict[str, str]:
    table = {name: name for name in ENCODINGS}
    for name, labels in _OTHER_LABELS.items():
        table.update(dict.fromkeys(labels.split(), name))
    for n in _ISO_SHORT:
        table[f"iso8859-{n}"] = table[f"iso8859{n}"] = f"iso-8859-{n}"
    for n in _ISO_UNDERSCORE:
        table[f"iso_8859-{n}"] = f"iso-8859-{n}"
    for n in range(1250, 1259):
        table[f"cp{n}"] = table[f"x-cp{n}"] = f"windows-{n}"
    return table


_BY_LABEL = _table()

# Labels are short; a longer string is no label and is not worth lowering.
_LONGEST = max(map(len, _BY_LABEL))
_ASCII_WHITESPACE = "\t\n\x0c\r "


def encoding_for_label(label: str) -> str | None:
    """The encoding a label means, in lower case, or None: "get an encoding" of the standard.

    Surrounding ASCII white space and ASCII case do not count; anything else that is not in the table is
    no label.
    """
    label = label.strip(_ASCII_WHITESPACE)
    if len(label) > _LONGEST or not label.isascii():  # str.lower() maps some non-ASCII letters to ASCII
        return None
    return _BY_LABEL.get(label.lower())


def labels_of(encoding: str) -> tuple[str, ...]:
    """Every label that means `encoding`, its own name included, sorted."""
    return tuple(sorted(label for label, name in _BY_LABEL.items() if name == encoding))
