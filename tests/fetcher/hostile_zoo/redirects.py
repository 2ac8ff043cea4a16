"""Beasts of redirection: in circles, out of HTTP, into the private network, and a megabyte long."""

from __future__ import annotations

from .keeper import Visit, beast, response


async def to(visit: Visit, location: str) -> None:
    await visit.send(response(b"", f"Location: {location}", status="302 Found"))


@beast(None, crawled=("redirect_loop",))
async def redirect_to_itself(visit: Visit) -> None:
    await to(visit, "/beast")


@beast(None, crawled=(None,))
async def redirect_loop_of_two(visit: Visit) -> None:
    """Ends by itself: the second hop leads to a URL that is known already."""
    await to(visit, "/loop" if visit.path == "/beast" else "/beast")


@beast(None, crawled=(None, "too_many_redirects"))
async def redirect_without_end(visit: Visit) -> None:
    await to(visit, f"/loop{visit.nth}")


@beast(None, crawled=("redirect_without_target",))
async def redirect_to_a_file(visit: Visit) -> None:
    await to(visit, "file:///etc/passwd")


@beast(None, crawled=("redirect_without_target",))
async def redirect_to_javascript(visit: Visit) -> None:
    await to(visit, "javascript:alert(1)")


@beast(None, crawled=("redirect_without_target",))
async def redirect_without_location(visit: Visit) -> None:
    await visit.send(response(b"", status="302 Found"))


@beast("headers_too_large", None, crawled=("headers_too_large", "redirect_without_target"))
async def redirect_to_a_megabyte(visit: Visit) -> None:
    await to(visit, "/" + "a" * 1_000_000)


@beast(None, crawled=(None, "redirect_without_target"))
async def redirect_to_a_hundred_kilobytes(visit: Visit) -> None:
    await to(visit, "/" + "a" * 100_000)


@beast(None, crawled=(None,))
async def redirect_to_a_private_address(visit: Visit) -> None:
    await to(visit, "http://10.0.0.1/admin")


@beast(None, crawled=(None,))
async def redirect_to_the_metadata_service(visit: Visit) -> None:
    await to(visit, "http://169.254.169.254/latest/meta-data/")


@beast(None, crawled=(None,))
async def redirect_in_plain_utf8(visit: Visit) -> None:
    await to(visit, "/caf\u00c3\u00a9")
