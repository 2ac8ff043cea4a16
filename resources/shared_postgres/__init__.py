"""A PostgreSQL that several machines share: its address, and connections to it."""
