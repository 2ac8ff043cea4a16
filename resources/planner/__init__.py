"""The plan of a night: what is due, how long it takes at the pace each domain allows, and what came of it.

`read.py` gathers facts, `domain.py` and `night.py` make a plan of them, `forecast.py` compares it with the night,
`store.py` keeps it. Only `read.py` and `store.py` touch anything outside.
"""
