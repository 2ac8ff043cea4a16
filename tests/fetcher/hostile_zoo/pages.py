"""Beasts of content: types that lie, pages of nothing but links, and markup without end."""

from __future__ import annotations

from .keeper import Visit, beast, ordinary, response

PAGE = ordinary("beast")


@beast(None)
async def missing_content_type(visit: Visit) -> None:
    await visit.send(response(PAGE, content_type=None))


@beast(None)
async def picture_that_is_a_page(visit: Visit) -> None:
    await visit.send(response(PAGE, content_type="image/png"))


@beast(None)
async def page_that_is_a_picture(visit: Visit) -> None:
    await visit.send(response(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40))


@beast(None)
async def content_type_of_nonsense(visit: Visit) -> None:
    await visit.send(response(PAGE, content_type="text/html; charset=" + "x" * 5000 + ";;=;charset=utf-8"))


@beast(None)
async def unknown_charset(visit: Visit) -> None:
    await visit.send(response(PAGE, content_type="text/html; charset=klingon"))


@beast(None)
async def hundred_thousand_links(visit: Visit) -> None:
    links = b"".join(b'<a href="http://elsewhere.example/%d">%d</a>' % (n, n) for n in range(100_000))
    await visit.send(response(PAGE + links))


@beast("too_large", big=True)
async def hundred_megabytes_of_nested_tags(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body>")
    await visit.flood(b"<div>" * 13_107, 100_000_000)


@beast(None, crawled=("wall_empty", "parser_crash"))
async def nested_tags_within_the_limit(visit: Visit) -> None:
    await visit.send(response(b"<html><body>" + b"<div>" * 180_000))


@beast(None, crawled=(None, "parser_crash"))
async def formatting_tags_left_open(visit: Visit) -> None:
    await visit.send(response(b"<html>" + b"".join(b"<b id=%d><p>" % n for n in range(20_000))))


@beast(None, crawled=(None, "wall_empty", "parser_crash"))
async def attributes_without_end(visit: Visit) -> None:
    await visit.send(response(b"<html><body " + b" ".join(b"a%d=1" % n for n in range(60_000)) + b">"))


@beast(None, crawled=("wall_empty",))
async def nothing_but_nul(visit: Visit) -> None:
    await visit.send(response(bytes(200_000)))


@beast(None)
async def one_megabyte_of_less_than(visit: Visit) -> None:
    await visit.send(response(b"<" * 900_000))
