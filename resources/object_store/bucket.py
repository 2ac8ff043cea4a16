"""The bucket: whole objects and ranges of them, concurrent, retried, checksummed on the way.

`s3://bucket[/prefix][?endpoint=…&region=…]`; credentials as every S3 tool takes them (`AWS_ACCESS_KEY_ID`,
`AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, or the machine's role), the endpoint also from `AWS_ENDPOINT_URL`.

Costs: a request each; `many` runs up to `AT_ONCE` of them at a time. Requests that fail are tried again for up
to `RETRY_S` in here; what fails for longer is told by the exception that the caller names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

__all__ = ["Bucket", "Listed"]

T = TypeVar("T")
R = TypeVar("R")

#: Requests in flight: enough to hide 20 ms of latency behind the work on what has come.
AT_ONCE = 16
#: How long a request is tried again before the caller hears of it. The crawl's writer waits far longer.
RETRY_S = 10.0
#: Of a file that is written or read: what is in memory at a time, and sent again when a request fails.
PART_BYTES = 8 * 1024 * 1024
#: Objects deleted by one request (S3's own bound).
DELETE_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Listed:
    """An object of a list: its name, bytes, and when it was written by the store's clock (seconds, UTC)."""

    name: str
    size: int
    written_at: float


class Bucket:
    """See the module docstring. Safe in several threads. `failure`: what is raised when the store does not serve."""

    def __init__(self, address: str, failure: type[Exception]) -> None:
        try:
            import obstore
            from obstore.store import S3Store
        except ModuleNotFoundError:
            raise failure(
                f"{address.partition('?')[0]}: S3 needs the package obstore; install nightcrawl[fleet]"
            ) from None
        parts = urlsplit(address)
        options = dict(parse_qsl(parts.query))
        if parts.scheme != "s3" or not parts.netloc or set(options) - {"endpoint", "region"}:
            raise failure(
                f"{address.partition('?')[0]!r}: an address on S3 must look like "
                "s3://bucket/prefix?endpoint=http://host:port&region=us-east-1"
            )
        endpoint = options.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL")
        region = options.get("region") or os.environ.get("AWS_REGION") or "us-east-1"
        self.shown = f"s3://{parts.netloc}{parts.path.rstrip('/')}"
        settings: Any = {"region": region, "checksum_algorithm": "SHA256"}
        if endpoint:
            settings |= {"endpoint": endpoint, "virtual_hosted_style_request": False}
        self._api = obstore
        self._failure = failure
        try:
            self._store: Any = S3Store(
                parts.netloc,
                prefix=parts.path.strip("/") or None,
                config=settings,
                client_options={"allow_http": bool(endpoint), "timeout": timedelta(seconds=60)},
                retry_config={
                    "max_retries": 10,
                    "retry_timeout": timedelta(seconds=RETRY_S),
                    "backoff": {
                        "init_backoff": timedelta(milliseconds=100),
                        "max_backoff": timedelta(seconds=3),
                        "base": 2,
                    },
                },
            )
        except (obstore.exceptions.BaseError, ValueError) as wrong:
            raise failure(f"{self.shown}: {_first_line(wrong)}") from wrong
        self._threads = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="nightcrawl-s3")

    def __repr__(self) -> str:
        return f"<Bucket {self.shown}>"

    def put(self, name: str, data: bytes) -> None:
        """Write a whole object. Durable on return; the same name again replaces it."""
        self._try("write", name, lambda: self._api.put(self._store, name, data, use_multipart=False))

    def get(self, name: str) -> bytes:
        """A whole object; KeyError if there is none."""
        return self._try("read", name, lambda: bytes(self._api.get(self._store, name).bytes()))

    def range(self, name: str, start: int, length: int) -> bytes:
        """Part of an object; KeyError if there is no such object."""
        if not length:
            return b""
        return self._try(
            "read", name, lambda: bytes(self._api.get_range(self._store, name, start=start, length=length))
        )

    def end(self, name: str, length: int) -> tuple[bytes, int]:
        """The last `length` bytes (or all, if it is shorter) and the size of the object."""

        def read() -> tuple[bytes, int]:
            got = self._api.get(self._store, name, options={"range": {"suffix": length}})
            return bytes(got.bytes()), int(got.meta["size"])

        return self._try("read", name, read)

    def exists(self, name: str) -> bool:
        try:
            self._try("look at", name, lambda: self._api.head(self._store, name))
        except KeyError:
            return False
        return True

    def put_file(self, name: str, path: Path) -> None:
        """Write a whole object from a file, in parts; it appears complete or not at all."""
        self._try("write", name, lambda: self._api.put(self._store, name, path, chunk_size=PART_BYTES))

    def get_file(self, name: str, path: Path) -> None:
        """A whole object into a file, which is complete and on disk on return; KeyError if there is none."""

        def read() -> None:
            with path.open("wb") as file:
                for part in self._api.get(self._store, name).stream(min_chunk_size=PART_BYTES):
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())

        self._try("read", name, read)

    def tagged(self, name: str) -> tuple[bytes, str] | None:
        """An object that changes, and the tag that `swap` wants; None if there is none."""

        def read() -> tuple[bytes, str]:
            got = self._api.get(self._store, name)
            return bytes(got.bytes()), str(got.meta["e_tag"])

        try:
            return self._try("read", name, read)
        except KeyError:
            return None

    def swap(self, name: str, data: bytes, tag: str | None) -> str | None:
        """Replace the object if it still has `tag` (None: if it is not there); its new tag, or None if it has changed.

        `data` must differ from all that was ever written there: a request whose answer got lost is recognized by it.
        """
        mode = "create" if tag is None else {"e_tag": tag}

        def write() -> str | None:
            try:
                return str(self._api.put(self._store, name, data, mode=mode, use_multipart=False)["e_tag"])
            except (
                self._api.exceptions.PreconditionError,
                self._api.exceptions.AlreadyExistsError,
                FileNotFoundError,
            ):
                found = self.tagged(name)
                return found[1] if found is not None and found[0] == data else None

        return self._try("write", name, write)

    def names(self, folder: str) -> list[tuple[str, int]]:
        """Names and sizes below `folder`, sorted: one request for every thousand."""
        return [(each.name, each.size) for each in self.listed(folder)]

    def listed(self, folder: str) -> list[Listed]:
        """All below `folder`, by name: one request for every thousand."""

        def read() -> list[Listed]:
            found = [
                Listed(str(meta["path"]), int(meta["size"]), meta["last_modified"].timestamp())
                for chunk in self._api.list(self._store, folder)
                for meta in chunk
            ]
            return sorted(found, key=lambda each: each.name)

        return self._try("list", folder, read)

    def folders(self) -> list[str]:
        """Names of the first level."""

        def read() -> list[str]:
            found = self._api.list_with_delimiter(self._store)["common_prefixes"]
            return sorted(str(name).strip("/").rpartition("/")[2] for name in found)

        return self._try("list", "", read)

    def holds(self, folder: str) -> bool:
        """Whether there is an object below `folder`: some stores keep empty folders."""
        return self._try(
            "list", folder, lambda: any(len(chunk) for chunk in self._api.list(self._store, folder))
        )

    def delete(self, names: Sequence[str]) -> None:
        for start in range(0, len(names), DELETE_AT_ONCE):
            some = list(names[start : start + DELETE_AT_ONCE])

            def remove(some: list[str] = some) -> None:
                try:
                    self._api.delete(self._store, some)
                except FileNotFoundError:
                    for name in some:  # somebody else deletes too
                        try:
                            self._api.delete(self._store, name)
                        except FileNotFoundError:
                            pass

            self._try("delete", some[0], remove)

    def many(self, call: Callable[[T], R], each: Iterable[T]) -> Iterator[R]:
        """`call` for each, some at a time; results in order."""
        return self._threads.map(call, each)

    def close(self) -> None:
        self._threads.shutdown(wait=True)

    def _try(self, deed: str, name: str, call: Callable[[], R]) -> R:
        try:
            return call()
        except FileNotFoundError:
            raise KeyError(name) from None
        except (self._api.exceptions.BaseError, OSError, ValueError) as wrong:
            raise self._failure(
                f"{self.shown}: cannot {deed} {name or 'the bucket'}: {_first_line(wrong)}; "
                "see that the store runs, that the bucket exists and that the credentials may use it"
            ) from wrong


def _first_line(wrong: Exception) -> str:
    return str(wrong).partition("\n")[0][:300]
