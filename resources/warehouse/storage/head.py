"""The head: one small object that says which warehouse and which published database count, and whose turn it is.

Every change of it is a compare-and-swap, so whoever lost its turn (a pause, a cut line) can change nothing any
more: its upload is an object that nothing names. A turn ends by itself when its holder has not been heard of
for `LEASE_S`, by the watcher's own clock: clocks of machines are never compared.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
from dataclasses import asdict, dataclass, replace

from resources.object_store.bucket import Bucket
from resources.warehouse.connection import WarehouseBusy, WarehouseError

__all__ = ["HEAD", "Head", "Turn", "read_head", "take_turn"]

log = logging.getLogger(__name__)

HEAD = "head.json"
#: A holder that says nothing for so long has lost its turn; it speaks every sixth of it.
LEASE_S = 30.0
#: How often those who wait look.
LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Head:
    """`holder`: '' for nobody. `warehouse`, `published`: names of objects, '' for none; `former`: the ones before,
    kept for those who are still reading them. `beat` makes each head differ from all others."""

    holder: str = ""
    beat: str = ""
    warehouse: str = ""
    published: str = ""
    former: tuple[str, ...] = ()

    def data(self) -> bytes:
        return json.dumps(asdict(self)).encode()


def read_head(bucket: Bucket) -> tuple[Head, str | None]:
    """The head and its tag; an empty one and None where there is none yet."""
    found = bucket.tagged(HEAD)
    if found is None:
        return Head(), None
    try:
        values = json.loads(found[0])
        return Head(**(values | {"former": tuple(values["former"])})), found[1]
    except (ValueError, TypeError, KeyError) as wrong:
        raise WarehouseError(
            f"{bucket.shown}/{HEAD} is not readable ({wrong}): name another prefix in NIGHTCRAWL_TABLES"
        ) from wrong


class Turn:
    """The right to load and publish, kept alive by a thread until `end`."""

    def __init__(self, bucket: Bucket, head: Head, tag: str) -> None:
        self._bucket = bucket
        self.head = head
        self._tag = tag
        self._lost = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="nightcrawl-loader-turn", daemon=True)
        self._thread.start()

    def change(self, **values: str | tuple[str, ...]) -> None:
        """Write a new head, durable on return; WarehouseError if the turn was lost: nothing has changed then."""
        with self._lock:
            if self._lost or not self._swap(replace(self.head, **values)):  # type: ignore[arg-type]
                self._lost = True
                raise WarehouseError(
                    f"another loader has taken over {self._bucket.shown}, because this one was not heard of for "
                    f"{LEASE_S:g} s; nothing of this load counts, its rows are still staged: load again"
                )

    def end(self) -> None:
        """Let the next one have its turn at once."""
        self._over.set()
        self._thread.join()
        with self._lock:
            if not self._lost:
                self._swap(replace(self.head, holder=""))

    def _swap(self, head: Head) -> bool:
        head = replace(head, beat=secrets.token_hex(8))
        tag = self._bucket.swap(HEAD, head.data(), self._tag)
        if tag is None:
            return False
        self.head, self._tag = head, tag
        return True

    def _beat(self) -> None:
        while not self._over.wait(LEASE_S / 6):
            with self._lock:
                try:
                    self._lost = self._lost or not self._swap(self.head)
                except WarehouseError as error:
                    # The next change will tell; until then the store may be back.
                    log.warning("no sign of life of the loader: %s", error)
                if self._lost:
                    return


def take_turn(bucket: Bucket, machine: str, wait_s: float) -> Turn:
    """Wait for the turn. `machine`: whose process holds this machine's lock; a turn it left behind is over.

    WarehouseBusy after `wait_s`.
    """
    until = time.monotonic() + wait_s
    me = f"{machine}/{os.getpid()}-{secrets.token_hex(4)}"
    seen, since = "", time.monotonic()
    while True:
        head, tag = read_head(bucket)
        if tag != seen:
            seen, since = tag or "", time.monotonic()
        # Numbered cases: 1. nobody's turn; 2. a dead process of this machine's; 3. not heard of for too long
        free = not head.holder or head.holder.partition("/")[0] == machine
        if free or time.monotonic() - since >= LEASE_S:
            mine = replace(head, holder=me, beat=secrets.token_hex(8))
            taken = bucket.swap(HEAD, mine.data(), tag)
            if taken is not None:
                return Turn(bucket, mine, taken)
            continue
        if time.monotonic() >= until:
            raise WarehouseBusy(
                f"loader {head.holder} has had {bucket.shown} for {wait_s:g} s; wait for it or end it"
            )
        time.sleep(LOOK_S)
