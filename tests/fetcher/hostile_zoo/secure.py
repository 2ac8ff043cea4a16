"""Beasts of TLS: certificates that are not good, and servers that do not speak it."""

from __future__ import annotations

from .keeper import Visit, beast, ordinary, response

PAGE = ordinary("beast")


@beast("tls", secure="self_signed")
async def self_signed_certificate(visit: Visit) -> None:
    await visit.send(response(PAGE))


@beast("tls", secure="expired")
async def expired_certificate(visit: Visit) -> None:
    await visit.send(response(PAGE))


@beast("tls", secure="wrong_host")
async def certificate_of_another_host(visit: Visit) -> None:
    await visit.send(response(PAGE))


@beast("tls", secure="plain", on_connect=True)
async def plain_text_on_the_tls_port(visit: Visit) -> None:
    await visit.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


@beast("tls", "reset", secure="plain", on_connect=True)
async def closed_in_the_handshake(visit: Visit) -> None:
    await visit.reader.read(5)
    visit.writer.close()


@beast("tls", "reset", secure="plain", on_connect=True)
async def reset_in_the_handshake(visit: Visit) -> None:
    await visit.reader.read(5)
    visit.reset()


@beast("read_timeout", "connect_timeout", secure="plain", on_connect=True)
async def silence_in_the_handshake(visit: Visit) -> None:
    await visit.reader.read(5)
    await visit.reader.read()


@beast(None, secure="good")
async def good_certificate(visit: Visit) -> None:
    await visit.send(response(PAGE))


@beast("truncated", secure="good")
async def tls_cut_without_goodbye(visit: Visit) -> None:
    await visit.send(response(PAGE)[:-100])
    visit.reset()
