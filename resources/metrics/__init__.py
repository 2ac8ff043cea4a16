"""Prometheus metrics: of a worker (`worker`), of frontier, workers and ledger (`installation`); served by `serve`."""
