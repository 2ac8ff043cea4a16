"""When the next request to a domain may go, and what a domain has taught us: the politeness ledger.

`base` is the contract, `pacer` the decision, `learning` and `limit_estimate` the learned rate, `ledger` the memory.
"""
