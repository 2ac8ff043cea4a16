"""The peers: each a script that runs in an environment of its own, with that framework's default settings."""
