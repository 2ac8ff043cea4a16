"""Encodings: what decides, what the decoders do with good and bad bytes, and that UTF-8 always comes out."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.web.encoding import ENCODINGS, Decision, decode, encoding_for_label, labels_of, sniff, to_utf8
from resources.web.encoding.detection import detect
from resources.web.http_fields import cache_control, charset, list_members, media_type

RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. "


# --- labels ------------------------------------------------------------------------------------------------


def test_labels_ignore_case_and_surrounding_white_space_and_know_no_python_codecs() -> None:
    assert encoding_for_label(" LATIN1\n") == "windows-1252"
    assert encoding_for_label("gb2312") == "gbk"
    for unknown in ("utf-7", "utf-32", "cp037", "", "ütf-8", "utf\u212a8", "x" * 10_000):
        assert encoding_for_label(unknown) is None


def test_every_label_of_every_encoding_decodes() -> None:
    assert len(ENCODINGS) == 40
    for encoding in ENCODINGS:
        for label in labels_of(encoding):
            assert isinstance(decode(b"a\xff\x81b\x1b", label), str)


def test_an_unknown_label_is_an_error_that_names_it() -> None:
    with pytest.raises(LookupError, match="utf-7"):
        decode(b"", "utf-7")


# --- what decides ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "content_type", "encoding", "source"),
    [
        (b"\xef\xbb\xbfx", "text/html; charset=gbk", "utf-8", "bom"),
        (b"\xff\xfex\0", "text/html; charset=utf-8", "utf-16le", "bom"),
        (b'<meta charset="utf-8">', "text/html; charset=ISO-8859-1", "windows-1252", "http"),
        (b'<meta charset="koi8-r">', "text/html; charset=bogus", "koi8-r", "meta"),
        (b'<meta charset="koi8-r">', None, "koi8-r", "meta"),
        (b'<meta charset="koi8-r">', "text/plain", "windows-1252", "default"),
        (b'<?xml version="1.0" encoding="koi8-r"?><html>', "text/html", "koi8-r", "xml"),
        (b'<?xml version="1.0" encoding="koi8-r"?><meta charset=gbk>', "text/html", "gbk", "meta"),
        (b'<?xml version="1.0" encoding="koi8-r"?><rss/>', "application/rss+xml", "koi8-r", "xml"),
        (b"<rss/>", "application/rss+xml", "utf-8", "default"),
        (b"\0<\0?\0x\0m\0l", "text/xml", "utf-16be", "xml"),
        (b'{"a": 1}', "application/ld+json; charset=latin1", "utf-8", "json"),
        (b'@charset "koi8-r";', "text/css", "koi8-r", "css"),
        ("é".encode(), "text/html", "utf-8", "utf8-valid"),
        ("é中".encode()[:-1], "text/html", "utf-8", "utf8-valid"),
        (b" " * 2000 + b"<meta charset=iso-8859-2>\xb1", "text/html", "iso-8859-2", "late-meta"),
        ((RUSSIAN * 30).encode("cp1251"), "text/html", "windows-1251", "detected"),
        (b"plain", "text/html", "windows-1252", "default"),
        (b"", None, "windows-1252", "default"),
    ],
)
def test_the_order_of_evidence(body: bytes, content_type: str | None, encoding: str, source: str) -> None:
    assert sniff(body, content_type) == Decision(encoding, source)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        (RUSSIAN, "koi8-r", "koi8-r"),
        ("日本語のテキスト：カタカナ、漢字とひらがなのぶんしょうです。", "euc-jp", "euc-jp"),
        ("日本語のテキスト：カタカナ、漢字とひらがなのぶんしょうです。", "cp932", "shift_jis"),
        ("这是一个用来测试编码检测的中文网页，里面有很多常见汉字。", "gbk", "gbk"),
        ("한국어 웹 페이지 시험 문장입니다. 오늘 날씨가 좋습니다", "cp949", "euc-kr"),
        ("Voix ambiguë d’un cœur qui préfère les jattes de kiwis à l’été", "cp1252", "windows-1252"),
        ("Falsches Üben von Xylophonmusik quält jeden größeren Zwerg", "cp1252", "windows-1252"),
    ],
)
def test_detection_of_common_legacy_pages(text: str, codec: str, encoding: str) -> None:
    assert detect(f"<p>{text}</p>\n".encode(codec) * 80) == encoding


# --- decoders ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr", "utf-8"])
def test_markup_after_a_bad_lead_byte_survives(encoding: str) -> None:
    for lead in range(0x80, 0x100):
        for after in b"\"<>&'=/\n":
            # euro (gbk) and U+0080 (shift_jis) are characters of one byte, not bad leads
            text = decode(bytes([0x20, lead, after]), encoding)
            assert text.endswith(chr(after)), (encoding, hex(lead), chr(after))


@pytest.mark.parametrize(
    ("encoding", "data", "text"),
    [
        ("big5", b"\xa2\x41\xa1\xfe\x87\x40", "\u2215\uff0f\u43f0"),
        ("big5", b"\x81\xa2\x41", "\ufffdA"),  # the pair is 81 A2; 41 is a letter of its own
        ("euc-jp", b"\x8f\xa2\xb7~\xad\xa1", "\uff5e~\u2460"),
        ("gb18030", b"\xa8\xbc\x81\x35\xf4\x37\xa6\xd9", "\u1e3f\ue7c7\ufe10"),
        ("gb18030", b"\x81\x30A\x80", "\ufffd0A\u20ac"),
        ("iso-2022-jp", b"\x1b$B%\x22\x1b(B\x1b(Jx", "ア\ufffdx"),
        ("iso-2022-jp", b"\x1b$B\x21\xff<", "\ufffd\ufffd"),
        ("windows-1255", b"\xca\xd9", "\u05ba\ufffd"),
        ("utf-16le", b"\x00\xd8a\x00\xff", "\ufffda\ufffd"),
    ],
)
def test_where_python_codecs_and_the_standard_differ(encoding: str, data: bytes, text: str) -> None:
    assert decode(data, encoding) == text


# --- whatever a server sends ---------------------------------------------------------------------------------

PIECES = (
    b"<meta charset = \" ' > <!-- --> utf-8 shift_jis big5 iso-2022-jp http-equiv=content-type content= "
    b"<?xml encoding= / \x1b$B \x81 \xff\xfe \xef\xbb\xbf \xc3\xa9"
)
bodies = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from([b" ", *PIECES.split()]), max_size=12).map(b"".join),
)
content_types = st.one_of(
    st.none(),
    st.text(max_size=40),
    st.builds(
        "{}; charset={}".format, st.sampled_from(["text/html", "text/xml", "x"]), st.sampled_from(ENCODINGS)
    ),
)


@given(bodies, content_types)
def test_valid_utf8_comes_out_whatever_goes_in(body: bytes, content_type: str | None) -> None:
    out, decision = to_utf8(body, content_type)
    out.decode("utf-8", "strict")
    assert decision == sniff(body, content_type)
    # One mark is taken off; a second one is a character of the text, whatever the encoding.
    twice = any(
        body.startswith(mark * 2) for mark in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    )
    assert not out.startswith(codecs.BOM_UTF8) or twice or decision.source != "bom"
    assert out.decode() == decode(body, decision.encoding)


@given(st.binary(max_size=60), st.sampled_from(ENCODINGS))
def test_decoders_never_raise_and_never_make_surrogates(body: bytes, encoding: str) -> None:
    decode(body, encoding).encode("utf-8", "strict")


@given(st.text(max_size=60))
def test_a_body_that_is_utf8_already_is_handed_on_as_it_is(text: str) -> None:
    body = text.encode()
    if not body.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE)):
        assert to_utf8(body, "text/html; charset=utf-8")[0] is body


@given(st.text(max_size=80))
def test_field_parsers_never_raise(value: str) -> None:
    charset(value)
    media_type(value)
    cache_control([("Cache-Control", value)])
    list_members([value])


@given(st.lists(st.text(st.characters(exclude_characters='",'), min_size=1, max_size=5).map(str.strip)))
def test_list_members_are_what_was_joined(members: list[str]) -> None:
    plain = [member.strip(" \t") for member in members if member.strip(" \t")]
    assert list_members([", ".join(plain)]) == plain


def test_a_long_hostile_field_costs_linear_time() -> None:
    for hostile in ('"' + '\\"' * 50_000, 'x;a="' + ';a="\\"' * 20_000, "," * 100_000):
        assert charset(hostile) is None
        media_type(hostile)
        cache_control([("cache-control", hostile)])
