"""Thousands of domains in one Dagster: what a nightly launch takes, and how soon each page of the UI answers."""
