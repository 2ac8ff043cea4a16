"""The process behind the wall: `python -m resources.crawler.parser_guard BYTES_OF_ADDRESS_SPACE`."""

from __future__ import annotations

from .child import main

if __name__ == "__main__":
    main()
