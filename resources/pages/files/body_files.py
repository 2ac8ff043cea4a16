"""Body files of one domain, and its dictionaries.

A body is written once per content; one that is there already is read back and replaced only if damaged.
The first TRAIN_AT bodies are plain; then a dictionary is trained, whose number every later frame carries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import zstandard

from resources.pages.compression import (
    LEVEL,
    SAMPLE_BODIES,
    TRAIN_AT,
    TRAIN_AT_BYTES,
    Codec,
    Codecs,
    content_hash,
    train,
)
from resources.pages.files.folders import ASIDE, Batch

__all__ = ["BodyFiles"]


class BodyFiles:
    """The bodies below one domain's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._codecs = Codecs(self._dictionary, LEVEL)
        self._count: int | None = None

    def path(self, content: bytes) -> Path:
        text = content.hex()
        return self._folder / "bodies" / text[:2] / f"{text}.zst"

    def paths(self) -> Iterator[Path]:
        return self._folder.glob("bodies/*/*.zst")

    def read(self, content: bytes) -> bytes:
        """FileNotFoundError if it is not there, ValueError if it is damaged."""
        data = self.path(content).read_bytes()
        try:
            number = zstandard.get_frame_parameters(data).dict_id
            body = self._codecs[number].decompress(data)
        except (zstandard.ZstdError, KeyError) as error:
            raise ValueError(f"no frame, or its dictionary is gone: {error}") from error
        if content_hash(body) != content:
            raise ValueError("its hash is another")
        return body

    def write(self, batch: Batch, bodies: Mapping[bytes, bytes]) -> None:
        """Within the domain's lock."""
        new = {content: body for content, body in bodies.items() if not self._intact(content)}
        if not new:
            return
        number = self.current() or self._train(batch, list(new.values()))
        codec = self._codecs[number]
        for content, body in new.items():
            batch.write(self.path(content), codec.compress(body))
        self._count = (self._count or 0) + len(new)

    def current(self) -> int:
        """The number of the dictionary for new bodies, 0 for none."""
        try:
            return int((self._folder / "dictionaries" / "current").read_text(encoding="ascii"))
        except FileNotFoundError:
            return 0

    def use(self, batch: Batch, dictionary: bytes) -> int:
        """Make this the dictionary of new bodies."""
        number = zstandard.ZstdCompressionDict(dictionary).dict_id()
        folder = self._folder / "dictionaries"
        batch.write(folder / f"{number}.dict", dictionary)
        batch.sync()
        batch.write(folder / "current", str(number).encode())
        return number

    def sample(self, count: int) -> list[bytes]:
        """Bodies to train on. Names are hashes: the first ones are as good as any."""
        found = []
        for path in islice(self.paths(), count):
            try:
                found.append(self.read(bytes.fromhex(path.stem)))
            except (ValueError, FileNotFoundError):
                continue  # `verify` and `read` report it; for training it is simply no sample
        return found

    def rewrite(self, batch: Batch, content: bytes, codec: Codec) -> None:
        """Compress one body anew. Within the domain's lock."""
        batch.write(self.path(content), codec.compress(self.read(content)))

    def dictionary_codec(self, level: int) -> Codec:
        number = self.current()
        return Codec(self._dictionary(number) if number else None, level)

    def number_of(self, path: Path) -> int:
        """The dictionary that a body file needs. ValueError if it holds no frame."""
        with path.open("rb") as file:
            try:
                return zstandard.get_frame_parameters(file.read(18)).dict_id
            except zstandard.ZstdError as error:
                raise ValueError(f"{path}: {error}") from error

    def clean(self, used: set[bytes]) -> None:
        """Delete bodies that no head names, dictionaries no body names, and files left incomplete."""
        needed = {self.current()}
        for path in list(self.paths()):
            if bytes.fromhex(path.stem) not in used:
                path.unlink()
            else:
                try:
                    needed.add(self.number_of(path))
                except ValueError:
                    continue  # damaged: `verify` names it
        for path in self._folder.glob("dictionaries/*.dict"):
            if int(path.stem) not in needed:
                path.unlink()
        for path in self._folder.rglob(f"*{ASIDE}"):
            path.unlink()

    def _dictionary(self, number: int) -> bytes:
        try:
            return (self._folder / "dictionaries" / f"{number}.dict").read_bytes()
        except FileNotFoundError as error:
            raise KeyError(number) from error

    def _intact(self, content: bytes) -> bool:
        try:
            self.read(content)
        except (ValueError, FileNotFoundError):
            return False
        return True

    def _train(self, batch: Batch, new: list[bytes]) -> int:
        if self._count is None:
            self._count = sum(1 for _ in islice(self.paths(), TRAIN_AT))
        if self._count + len(new) < TRAIN_AT:
            return 0
        samples = (new + self.sample(TRAIN_AT))[:SAMPLE_BODIES]
        data = train(samples) if sum(map(len, samples)) >= TRAIN_AT_BYTES else None
        if data is None:
            self._count = -len(new) - TRAIN_AT  # small or all different: look again after as many more
            return 0
        return self.use(batch, data)
