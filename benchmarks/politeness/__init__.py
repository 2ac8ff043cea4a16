"""Politeness, measured: what servers with limits see of us."""
