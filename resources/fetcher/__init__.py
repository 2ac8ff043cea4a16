"""The only place that touches the network. `base` is the seam, `web` the real fetcher."""
