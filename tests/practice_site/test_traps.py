"""Places without end really have none, and hide nothing that is not elsewhere."""

from __future__ import annotations

from practice_site import PracticeSite, site_config
from practice_site.shop import identity
from tests.practice_site.naive_crawl import Links
from tests.practice_site.raw_client import fetch


async def links(site: PracticeSite, target: str) -> list[str]:
    reply = await fetch(site, target)
    assert reply.status == 200
    return Links(reply.body.decode()).found


async def test_the_shelves_hand_out_new_session_ids_at_every_step() -> None:
    async with PracticeSite(site_config(n_products=20, session_trap="section")) as site:
        target, seen = "/browse", set()
        for _ in range(30):
            target = next(link for link in await links(site, target) if link.startswith("/browse/"))
            seen.add(target)
        assert len(seen) == 30
        assert len({identity(link) for link in seen}) == 1


async def test_session_ids_everywhere_multiply_every_page() -> None:
    async with PracticeSite(site_config(n_products=20, session_trap="everywhere")) as site:
        first = await links(site, "/books?page=1")
        assert all("sid=" in link for link in first)
        again = await links(site, first[0])
        assert not set(first) & set(again)
        with_id = next(link for link in first if link.startswith("/book/"))
        assert (await fetch(site, with_id)).status == 200
        assert (await fetch(site, identity(with_id))).status == 200
        assert site.stats()["repeated"] == 1


def test_identity_removes_the_session_id_alone() -> None:
    assert identity("/books?page=2&sid=ab") == "/books?page=2"
    assert identity("/books?sid=ab&page=2&x=1") == "/books?page=2&x=1"
    assert identity("/books?sid=ab") == "/books"
    assert identity("/books?page=2") == "/books?page=2"


async def test_the_calendar_has_a_next_month_for_ever() -> None:
    async with PracticeSite(site_config(n_products=20, calendar_trap=True)) as site:
        target, seen = "/events/2025/11", []
        for _ in range(14):
            target = next(link for link in await links(site, target) if link.startswith("/events/"))
            seen.append(target)
        assert seen[:3] == ["/events/2025/12", "/events/2026/01", "/events/2026/02"]
        assert len(set(seen)) == 14
        assert site.stats()["trap_requests"] == 14


async def test_next_leads_back_or_on_for_ever() -> None:
    async with PracticeSite(site_config(n_products=20, next_loop="back")) as site:
        last = await links(site, "/new?page=3")
        assert "/new" in last
        assert (await fetch(site, "/new?page=4")).status == 404
        site.set(next_loop="endless")
        assert "/new?page=4" in await links(site, "/new?page=3")
        beyond = await links(site, "/new?page=1000")
        assert "/new?page=1001" in beyond
        assert [x for x in beyond if "/book/" in x] == [x for x in last if "/book/" in x]


async def test_quiet_sites_have_none() -> None:
    async with PracticeSite(site_config(n_products=20)) as site:
        for target in ("/events", "/events/2025/01", "/browse", "/browse/1", "/new", "/loop/a", "/go/1"):
            assert (await fetch(site, target)).status == 404
