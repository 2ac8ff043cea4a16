"""Real documentation from Debian packages, served by nginx on loopback, crawled whole and compared with the disk.

`make bench-real-docs` or `python -m benchmarks.real_docs`. Needs the Debian packages named in `packages`;
`python -m benchmarks.real_docs --install` installs them (as root).
"""
