"""Who visits the zoo: a fetcher that trusts the zoo's authority and finds `zoo.example` on loopback."""

from __future__ import annotations

from resources.fetcher.base import FetchProfile
from resources.fetcher.resolver import Resolver
from resources.fetcher.transports.reqwest import ReqwestTransport
from resources.fetcher.web import WebFetcher

from .certificates import HOST, authority_pem

__all__ = ["PROFILE", "FixedNames", "visitor"]

#: Short patience and small limits, so that whatever is bounded shows it at once.
PROFILE = FetchProfile(
    headers=(("user-agent", "zoo-visitor/1.0 (+https://visitor.example)"),),
    connect_timeout_s=1.0,
    read_timeout_s=0.4,
    total_timeout_s=1.2,
    max_body=5_000_000,
    allow_networks=("127.0.0.0/8",),
)


class FixedNames(Resolver):
    """Answers from a table; asks nobody."""

    def __init__(self, names: dict[str, tuple[str, ...]]) -> None:
        super().__init__()
        self.names = names
        self.asked: list[str] = []

    async def addresses_of(self, host: str, port: int) -> tuple[str, ...]:
        self.asked.append(host)
        if host not in self.names:
            raise OSError("no such name in the table")
        return self.names[host]


def visitor() -> WebFetcher:
    return WebFetcher(
        ReqwestTransport(root_certificates_pem=authority_pem()), FixedNames({HOST: ("127.0.0.1",)})
    )
