"""One pace for all workers: rate, concurrency, waits and what was learned of a domain, shared through Redis."""
