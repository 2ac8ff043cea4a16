"""`python -m practice_site`: run one shop or many until interrupted.

Every field of Behaviour is a flag and changes the preset: `--preset default --rate 20 --no-calendar-trap`.
Exit codes: 0 stopped by a signal, 1 could not listen, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin

from practice_site.behaviour import PRESETS, behaviour_fields, changed
from practice_site.server import serve
from practice_site.site_config import SiteConfig, config_from_json, many_sites

__all__ = ["argument_parser", "configs_from", "main"]


def argument_parser(prog: str = "practice_site") -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="A book shop on loopback that behaves as badly as you like.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (with --domains: the first)"
    )
    parser.add_argument(
        "--port", type=int, default=8800, help="port; 0 takes a free one (default %(default)s)"
    )
    parser.add_argument("--domains", type=int, default=1, help="serve this many sites, on 127.0.0.2, .3 …")
    parser.add_argument("--products", type=int, default=2000, help="books on sale (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--night", type=int, default=1, help="which night's prices (default %(default)s)")
    parser.add_argument("--log-file", default="", help="also write every request to this JSONL file")
    parser.add_argument("--preset", choices=list(PRESETS), default="default")
    parser.add_argument("--attached", action="store_true", help=argparse.SUPPRESS)
    switches = parser.add_argument_group("misbehaviour", "each changes the preset")
    for name, kind in behaviour_fields().items():
        flag = "--" + name.replace("_", "-")
        if kind is bool:
            switches.add_argument(flag, dest=name, action=argparse.BooleanOptionalAction, default=None)
        elif get_origin(kind) is Literal:
            choices = [str(choice) for choice in get_args(kind)]
            switches.add_argument(flag, dest=name, choices=choices, default=None)
        else:
            switches.add_argument(flag, dest=name, type=kind, default=None, metavar=kind.__name__)
    return parser


def configs_from(arguments: argparse.Namespace) -> list[SiteConfig]:
    """The sites that parsed arguments ask for. Raises ValueError."""
    given = {name: getattr(arguments, name) for name in behaviour_fields()}
    changes = {name: value for name, value in given.items() if value is not None}
    config = SiteConfig(
        n_products=arguments.products,
        seed=arguments.seed,
        night=arguments.night,
        host=arguments.host,
        port=arguments.port,
        log_file=arguments.log_file,
        behaviour=changed(PRESETS[arguments.preset], changes),
    )
    return [config] if arguments.domains == 1 else many_sites(arguments.domains, config)


def main(argv: Sequence[str] | None = None, prog: str = "practice_site") -> int:
    """Run until SIGINT or SIGTERM; returns the exit code."""
    parser = argument_parser(prog)
    arguments = parser.parse_args(argv)
    if arguments.attached:
        job = json.loads(sys.stdin.readline())
        configs = [config_from_json(site) for site in job["sites"]]
        return _run(_attached(configs, interlinked=job["interlinked"]))
    try:
        configs = configs_from(arguments)
    except ValueError as error:
        parser.error(str(error))
    return _run(_in_foreground(configs))


async def _in_foreground(configs: Sequence[SiteConfig]) -> int:
    stop = asyncio.Event()
    _stop_on_signals(stop)
    try:
        async with serve(configs) as web:
            for site in web.sites:
                print(
                    f"practice site at {site.url} ({site.config.n_products} books, night {site.config.night})"
                )
            print(f"control at {web.sites[0].control}stats; stop with Ctrl-C", flush=True)
            await stop.wait()
    except OSError as error:
        print(f"error: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


async def _attached(configs: Sequence[SiteConfig], *, interlinked: bool) -> int:
    """Serve a parent process: say where on one line, end when its end of the pipe closes."""
    stop = asyncio.Event()
    _stop_on_signals(stop)
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), _stop_at_end, stop)
    try:
        async with serve(configs, interlinked=interlinked) as web:
            sites: list[dict[str, Any]] = [
                {"config": site.config.to_json(), "neighbours": site.neighbours} for site in web.sites
            ]
            print(json.dumps({"sites": sites}), flush=True)
            await stop.wait()
    except OSError as error:
        print(json.dumps({"error": error.strerror or str(error)}), flush=True)
        return 1
    return 0


def _stop_at_end(stop: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 1024):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        stop.set()


def _stop_on_signals(stop: asyncio.Event) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)


def _run(job: Any) -> int:
    """On uvloop where it exists: the site then takes half the CPU, which the crawler beside it needs."""
    # Every domain is a listening socket: thousands of them need more than the usual soft limit of 1,024.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        import uvloop
    except ImportError:
        return int(asyncio.run(job))
    return int(uvloop.run(job))
