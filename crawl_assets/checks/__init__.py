"""Canaries and invariants, one concern a file. Each is a declaration and a pure function of facts; stages evaluate
them for every domain and log one evaluation per partition."""
