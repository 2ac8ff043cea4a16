"""A process that parses pages nobody trusts: started when first needed, replaced when it dies or hangs.

Parent and child talk in length-prefixed pickles over pipes; the child opens no file and no connection. Limits:
`PAGE_S` of time a page, `MEMORY` of address space. One page at a time; some 0.3 ms a page on top of its parse.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from typing import TYPE_CHECKING

from resources.crawler.read_apart import LENGTH

if TYPE_CHECKING:
    from resources.crawler.read_page import ReadPage, ReadTask

__all__ = ["MEMORY", "PAGE_S", "ParserChild", "ParserLost"]

#: Parsing is bounded to a second or two by work budgets; what takes this long will not end.
PAGE_S = 10.0
#: Address space of the child. A tree takes some ten times its markup, and markup is at most 10 MB.
MEMORY = 2 << 30


class ParserLost(Exception):
    """The page could not be parsed: the process died of it, or had to be killed. The message says which."""


class ParserChild:
    """`await read(task)`. Safe for concurrent calls; they wait for one another."""

    def __init__(self, page_s: float = PAGE_S, memory: int = MEMORY) -> None:
        self.page_s = page_s
        self._memory = memory
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        #: Processes started, for tests and the curious.
        self.started = 0

    async def read(self, task: ReadTask) -> ReadPage:
        """What `read_page.read_task` gives in the child. Raises ParserLost."""
        async with self._turn:
            process = self._process or await self._start()
            try:
                async with asyncio.timeout(self.page_s):
                    return await self._exchange(process, task)
            except TimeoutError:
                await self._kill()
                raise ParserLost(f"parsing took longer than {self.page_s:g} s") from None
            except (asyncio.IncompleteReadError, ConnectionError):
                status = await process.wait()
                self._process = None
                how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
                raise ParserLost(f"the parsing process ended with {how}") from None
            except asyncio.CancelledError:
                await self._kill()  # an answer to nobody is on its way
                raise

    async def _start(self) -> asyncio.subprocess.Process:
        self.started += 1
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "resources.crawler.read_apart",
            str(self._memory),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
                # numpy starts a thread a processor for matrices, which no page has.
                "OPENBLAS_NUM_THREADS": "1",
            },
        )
        assert self._process.stdout is not None
        await self._process.stdout.readexactly(1)  # it is up: starting is not a page's time
        return self._process

    async def _exchange(self, process: asyncio.subprocess.Process, task: ReadTask) -> ReadPage:
        assert process.stdin is not None and process.stdout is not None
        data = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
        process.stdin.write(LENGTH.pack(len(data)))
        process.stdin.write(data)
        await process.stdin.drain()
        (size,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
        answer = pickle.loads(await process.stdout.readexactly(size))
        if isinstance(answer, str):
            raise ParserLost(answer)
        return answer  # type: ignore[no-any-return]

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def close(self) -> None:
        """End the process; at once, whatever it does."""
        await self._kill()
