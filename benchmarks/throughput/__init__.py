"""CPU per page beside other crawlers: the same pages, one after another, the same sets fetched.

`python -m benchmarks.throughput` runs everything and writes `docs/performance.md` and its plots;
`--short` runs the form for CI, which fails when a ratio has fallen by more than a third.
"""
