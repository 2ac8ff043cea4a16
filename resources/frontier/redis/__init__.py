"""The frontier on Redis or Valkey: shared by any number of processes on any number of machines."""

from resources.frontier.redis.frontier import RedisFrontier

__all__ = ["RedisFrontier"]
