"""The process behind the wall of `parser_guard`: `python -m resources.crawler.read_apart BYTES_OF_ADDRESS_SPACE`.

It answers tasks of `read_page`, pickles with their length in front, one at a time. It stands by itself, for what it
imports is what it costs: a quarter of a second in all crawls that meet one page nobody trusts.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import struct
import sys
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from resources.crawler.read_page import ReadPage

__all__ = ["LENGTH", "main"]

LENGTH = struct.Struct("<Q")


def _serve(pipe_in: BinaryIO, pipe_out: BinaryIO) -> None:
    from resources.crawler.read_page import read_task

    pipe_out.write(b"+")
    pipe_out.flush()
    while len(head := pipe_in.read(LENGTH.size)) == LENGTH.size:
        task = pickle.loads(pipe_in.read(LENGTH.unpack(head)[0]))
        answer: ReadPage | str
        try:
            answer = read_task(task)
        except MemoryError:
            answer = "parsing took more memory than a page may"
        except Exception as error:  # whatever a page makes our code do, it costs that page only
            answer = f"parsing failed: {type(error).__name__}: {error}"
        data = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
        pipe_out.write(LENGTH.pack(len(data)) + data)
        pipe_out.flush()


def main() -> None:
    """Answer tasks until the parent closes the pipe."""
    # The parent decides when it ends; a Ctrl-C in the terminal reaches the whole group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe_out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not end up in the protocol
    _serve(sys.stdin.buffer, pipe_out)


if __name__ == "__main__":
    main()
