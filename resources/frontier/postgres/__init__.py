"""The frontier in PostgreSQL: durable, for several machines, for teams that run one anyway."""

from resources.frontier.postgres.frontier import PostgresFrontier

__all__ = ["PostgresFrontier"]
