"""The bundled practice site for `nightcrawl crawl --practice`: started on loopback, one night further each time."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .failures import CommandFailed

if TYPE_CHECKING:
    from resources.installation import Installation

__all__ = ["DEFAULT_PORT", "PRODUCTS", "PracticeNight", "practice_night"]

#: The port of sites/practice.yaml.
DEFAULT_PORT = 8800
#: Books on sale: enough for list pages, traps and errors, few enough for a first night of a minute or two.
PRODUCTS = 1200
HOST = "127.0.0.1"
#: What somebody who knows the shop writes into its site file: the calendar has no end, `sid` is a session.
KNOWN_TRAPS = {"scope": {"exclude": ["/events/*"]}, "urls": {"drop_parameters": ["sid"]}}


@dataclass(slots=True)
class PracticeNight:
    """What is remembered in `<data>/practice.json`: one shop on one port, and which night it had."""

    port: int = DEFAULT_PORT
    products: int = PRODUCTS
    night: int = 1
    complete: bool = False

    @property
    def domain(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.domain}/"


@contextmanager
def practice_night(
    installation: Installation, port: int | None, products: int | None
) -> Iterator[PracticeNight]:
    """The site up for the next night: the night after the last complete one, prices changed.

    Set `complete` when the night was. A practice site that already runs on the port is used and left running.
    """
    note = installation.data / "practice.json"
    night = _remembered(note)
    night.port = port or night.port
    night.products = products or night.products
    if night.complete:
        night.night, night.complete = night.night + 1, False
    _write_site_file(installation, night)
    with _site(night):
        try:
            yield night
        finally:
            installation.data.mkdir(parents=True, exist_ok=True)
            note.write_text(json.dumps(asdict(night)) + "\n", encoding="utf-8")


def _remembered(note: Path) -> PracticeNight:
    try:
        return PracticeNight(**json.loads(note.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return PracticeNight()
    except (ValueError, TypeError) as error:
        raise CommandFailed(
            f"{note}: cannot be understood ({error}); remove it to begin with night 1"
        ) from None


def _write_site_file(installation: Installation, night: PracticeNight) -> None:
    """Numbered cases: 1. a site file covers the shop; 2. a new one is written beside the others."""
    from practice_site.site_file import site_yaml

    sites = installation.sites
    if sites.is_file() or installation.catalog().for_domain(night.domain) is not None:
        return
    name = "practice" if not (sites / "practice.yaml").exists() else f"practice-{night.port}"
    sites.mkdir(parents=True, exist_ok=True)
    text = site_yaml(night.domain, name=name, changes=KNOWN_TRAPS)
    head = "# The bundled practice site, written by `nightcrawl crawl --practice`.\n"
    (sites / f"{name}.yaml").write_text(head + text, encoding="utf-8")


@contextmanager
def _site(night: PracticeNight) -> Iterator[None]:
    """Numbered cases: 1. nothing listens: start it; 2. a practice site: use it; 3. something else: say so."""
    from practice_site.process import practice_site_process

    health = _ask(night.port, "GET", "health")
    if health is None:
        with ExitStack() as running:
            try:
                running.enter_context(
                    practice_site_process(
                        preset="default", n_products=night.products, port=night.port, night=night.night
                    )
                )
            except RuntimeError as error:
                raise CommandFailed(f"{error}; choose another port with --practice-port") from None
            yield
        return
    if not health.get("ok"):
        raise CommandFailed(
            f"port {night.port} of {HOST} is in use by something that is no practice site: "
            "stop it, or choose another port with --practice-port"
        )
    _ask(night.port, "POST", f"night?n={night.night}")
    yield


def _ask(port: int, method: str, path: str) -> dict[str, Any] | None:
    """An answer of the control path; None: nothing listens; {}: something that is no practice site."""
    from practice_site.control import CONTROL_PATH

    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request(method, CONTROL_PATH + path)
        found = json.loads(connection.getresponse().read())
        return found if isinstance(found, dict) else {}
    except ConnectionRefusedError:
        return None
    except (OSError, http.client.HTTPException, ValueError):
        return {}
    finally:
        connection.close()
