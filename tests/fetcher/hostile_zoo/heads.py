"""Beasts of the response head: slow, endless, malformed, early, or of another century."""

from __future__ import annotations

import asyncio

from .keeper import Visit, beast, ordinary, response

PAGE = ordinary("beast")


@beast("read_timeout")
async def silence(visit: Visit) -> None:
    await asyncio.sleep(60)


@beast("read_timeout")
async def slowloris_head(visit: Visit) -> None:
    await visit.drip(b"HTTP/1.1 200 OK\r\n" + b"X-Slow: and slower\r\n" * 1000, 0.05)


@beast("headers_too_large")
async def endless_head(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\n")
    await visit.flood(b"X-More: " + b"m" * 1000 + b"\r\n", 64_000_000)


@beast("headers_too_large")
async def endless_header_line(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    await visit.flood(b"m" * 65_536, 64_000_000)


@beast("headers_too_large", "bad_response")
async def endless_status_line(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 ")
    await visit.flood(b"OK" * 32_768, 64_000_000)


@beast("headers_too_large")
async def cookie_flood(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n")
    await visit.flood(b"Set-Cookie: a=" + b"c" * 200 + b"; Path=/\r\n", 10_000_000)
    await visit.send(b"\r\nok")


@beast(None)
async def eighty_cookies(visit: Visit) -> None:
    await visit.send(response(PAGE, *(f"Set-Cookie: c{n}={n}; Path=/" for n in range(80))))


@beast("bad_response", None)
async def nul_in_header(visit: Visit) -> None:
    await visit.send(response(PAGE, "X-Nul: a\0b"))


@beast(None)
async def non_ascii_headers(visit: Visit) -> None:
    await visit.send(response(PAGE, "X-Latin: caf\xe9", "X-Utf8: \xe2\x82\xac", "Server: \xff\xfe"))


@beast(None)
async def folded_header(visit: Visit) -> None:
    await visit.send(response(PAGE, "X-Folded: one\r\n two\r\n\tthree"))


@beast("bad_response", None)
async def header_without_colon(visit: Visit) -> None:
    await visit.send(response(PAGE, "this line is no field"))


@beast("bad_response", None)
async def blank_before_colon(visit: Visit) -> None:
    await visit.send(response(PAGE, "X-Blank : value"))


@beast("bad_response")
async def http_0_9(visit: Visit) -> None:
    await visit.send(b"<html><body>no head at all</body></html>")


@beast("bad_response")
async def http_3_in_text(visit: Visit) -> None:
    await visit.send(b"HTTP/3.7 200 OK\r\nContent-Length: 2\r\n\r\nok")


@beast("bad_response")
async def not_http(visit: Visit) -> None:
    await visit.send(b"SSH-2.0-OpenSSH_9.9\r\n" + bytes(range(256)) * 10)


@beast("bad_response")
async def status_of_letters(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 two hundred\r\nContent-Length: 2\r\n\r\nok")


@beast("bad_response", None, crawled=("bad_response", "http_999", None))
async def status_999(visit: Visit) -> None:
    await visit.send(response(PAGE, status="999 Denied"))


@beast("reset", "bad_response", crawled=("reset", "bad_response"))
async def only_interim_responses(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 50)


@beast("read_timeout")
async def endless_interim_responses(visit: Visit) -> None:
    while True:
        await visit.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 20)
        await asyncio.sleep(0.01)


@beast("bad_response", "reset")
async def switching_protocols(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n\0\0\0")
    visit.writer.close()


@beast("bad_response", None, on_connect=True)
async def response_before_request(visit: Visit) -> None:
    await visit.send(response(PAGE))
    await visit.reader.read(1000)


@beast(None)
async def second_response_unasked(visit: Visit) -> None:
    """The one after it must not be taken for the answer to the next request of the connection."""
    await visit.send(response(PAGE) + response(b"<html><title>smuggled</title></html>"))
    await visit.reader.read(1000)
