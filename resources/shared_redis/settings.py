"""What a server must be set to before a frontier is entrusted to it: asked on connect, said with its cure."""

from __future__ import annotations

from typing import Any

import redis

__all__ = ["LISTPACK_VALUE", "prefer_flat_hashes", "problems"]

#: `#!lua` flags came with 7.0 (2022); every Valkey has them.
OLDEST = (7, 0)

#: Records longer than `hash-max-listpack-value` turn a bucket of the frontier from one flat string into a
#: table of pointers, at some 60 bytes more a URL. The server's default is 64 bytes; records with long URLs
#: are below this.
LISTPACK_VALUE = 1024


def problems(client: redis.Redis) -> list[str]:
    """Every setting that could lose URLs, with what to do. Empty: all is well."""
    server, memory, persistence = (_info(client, part) for part in ("server", "memory", "persistence"))
    found = []
    version = str(server.get("redis_version", "0"))
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < OLDEST:
        found.append(f"it is version {version}: use Redis 7.0 or newer, or Valkey")
    policy = memory.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        found.append(
            f"maxmemory-policy is {policy}, which silently evicts parts of the frontier when memory is short: "
            "set `maxmemory-policy noeviction` in its configuration (at once: CONFIG SET maxmemory-policy noeviction)"
        )
    if not int(persistence.get("aof_enabled", 0)):
        found.append(
            "it keeps no append-only file, so that a restart forgets what was done since the last snapshot: "
            "set `appendonly yes` and `appendfsync everysec` (at once: CONFIG SET appendonly yes)"
        )
    return found


def prefer_flat_hashes(client: redis.Redis) -> str:
    """Raise `hash-max-listpack-value` where that is allowed; a sentence on what to do where it is not."""
    name = "hash-max-listpack-value"
    advice = (
        f"set `{name} {LISTPACK_VALUE}` in its configuration: the frontier then takes about half the memory"
    )
    try:
        (value,) = dict(client.config_get(name)).values()
        if int(value or 0) < LISTPACK_VALUE:
            client.config_set(name, LISTPACK_VALUE)
    except (redis.ResponseError, ValueError):
        return advice
    return ""


def _info(client: redis.Redis, part: str) -> dict[str, Any]:
    return dict(client.info(part))
