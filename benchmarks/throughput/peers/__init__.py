"""The peers: scripts that run in environments of their own. Each ends by printing one JSON line."""
