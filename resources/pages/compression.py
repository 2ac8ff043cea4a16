"""zstd for bodies and heads: plain at first, then with a dictionary trained on the domain's own pages.

Pages of one site share their frame. A dictionary of that frame makes each body about a third smaller than
plain zstd at the same price, and bodies stay separate frames: reading one costs one decompression.
Dictionaries are kept by the store, named by number, and never change; a body names the one it needs.

Costs per 25 KB page: compressing 0.1 to 0.15 ms of CPU, decompressing 0.03 ms; training 0.02 s.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import xxhash
import zstandard

__all__ = [
    "DENSE_DICTIONARY_BYTES",
    "DENSE_LEVEL",
    "DENSE_SAMPLE_BODIES",
    "HEAD_LEVEL",
    "LEVEL",
    "SAMPLE_BODIES",
    "TRAIN_AT",
    "TRAIN_AT_BYTES",
    "Codec",
    "Codecs",
    "content_hash",
    "train",
]

#: For bodies in `put`: with a dictionary 9x on documentation pages. Level 3 costs half and gives 7.9x.
LEVEL = 5

#: LEVEL with a dictionary: smaller tables than zstd's own choice stay in the processor's cache, one more step
#: of searching makes up for it. Found by trying all on documentation pages of 30 KB: 1.3 % smaller and 4 %
#: dearer than with one step less; zstd's own level 5 is 14 % dearer and no smaller.
_WITH_DICTIONARY = {
    "strategy": zstandard.STRATEGY_GREEDY,
    "window_log": 20,
    "hash_log": 17,
    "chain_log": 17,
    "search_log": 5,
    "min_match": 6,
    "target_length": 2,
}

#: For `maintain`, which nobody waits for: 7 % smaller than LEVEL at three times its price.
DENSE_LEVEL = 9

#: For heads: a few hundred bytes, nearly all of them found in the dictionary at any level.
HEAD_LEVEL = 3

#: 110 KB, zstd's usual size, gives 8.4x where 256 KB give 9x; stored compressed it takes about 60 KB.
DICTIONARY_BYTES = 256 * 1024

#: For dense stores of large domains: another 6 % smaller, if the domain has many times its stored 220 KB.
DENSE_DICTIONARY_BYTES = 1024 * 1024

#: Pages to train on. Twice as many gain under 1 % and take twice the time.
SAMPLE_BODIES = 128

#: Pages to train on for a dense store: a large dictionary has room for what only some pages share.
DENSE_SAMPLE_BODIES = 512

#: What of each page is looked at: bounds the time of training (0.02 s) whatever the size of the pages.
SAMPLE_BYTES = 64 * 1024

#: Length of the segments the trainer picks: a typical run of shared markup. Given, so that it does not
#: search for the best one, which takes four times as long and gains nothing.
SEGMENT_BYTES = 1024

#: For the dictionaries of `put`: a smaller table of frequencies and fewer positions looked at take 20 ms instead
#: of 51 and cost nothing that can be measured.
_QUICK = {"f": 18, "accel": 10}

#: Bodies of a domain before its first dictionary: enough to know what its pages share. (Those before it
#: stay plain until `maintain`: 64 would leave a crawl of a thousand pages 2 % larger.)
TRAIN_AT = 32

#: Decoded bytes before the first dictionary, which takes some 60 KB itself.
TRAIN_AT_BYTES = 512 * 1024

#: Window and tables are made for bodies of about this size; larger ones compress a little less.
TYPICAL_BYTES = 128 * 1024

#: Codecs kept ready. One with a dictionary takes about 2 MB; making it again takes 3 ms.
READY = 24


def content_hash(body: bytes) -> bytes:
    """xxh3-128 of a body: 16 bytes, what `PageHead.content_hash` holds."""
    return xxhash.xxh3_128_digest(body)


class Codec:
    """Compresses with one dictionary, or none. ValueError from `decompress` for what is not its work."""

    __slots__ = ("_compressor", "_decompressor")

    def __init__(self, dictionary: bytes | None, level: int, *, raw: bool = False) -> None:
        if dictionary is None:
            self._compressor = zstandard.ZstdCompressor(level=level)
            self._decompressor = zstandard.ZstdDecompressor()
            return
        kind = zstandard.DICT_TYPE_RAWCONTENT if raw else zstandard.DICT_TYPE_FULLDICT
        data = zstandard.ZstdCompressionDict(dictionary, dict_type=kind)
        if level == LEVEL:
            parameters = zstandard.ZstdCompressionParameters(**_WITH_DICTIONARY, write_dict_id=1)
        else:
            parameters = zstandard.ZstdCompressionParameters.from_level(
                level, source_size=TYPICAL_BYTES, dict_size=len(dictionary), write_dict_id=1
            )
        data.precompute_compress(compression_params=parameters)
        self._compressor = zstandard.ZstdCompressor(compression_params=parameters, dict_data=data)
        self._decompressor = zstandard.ZstdDecompressor(dict_data=data)

    def compress(self, data: bytes) -> bytes:
        return self._compressor.compress(data)

    def decompress(self, data: bytes) -> bytes:
        try:
            return self._decompressor.decompress(data)
        except zstandard.ZstdError as error:
            raise ValueError(f"not a zstd frame of this dictionary: {error}") from error


class Codecs:
    """Codecs by dictionary number, the latest used kept ready. Number 0 means no dictionary.

    `load(number)` fetches a dictionary's bytes; KeyError if the store has it no more.
    """

    def __init__(self, load: Callable[[int], bytes], level: int, *, raw: bool = False) -> None:
        self._load = load
        self._level = level
        self._raw = raw
        self._plain = Codec(None, level)
        self._ready: OrderedDict[int, Codec] = OrderedDict()

    def __getitem__(self, number: int) -> Codec:
        if not number:
            return self._plain
        codec = self._ready.get(number)
        if codec is None:
            codec = self._ready[number] = Codec(self._load(number), self._level, raw=self._raw)
            if len(self._ready) > READY:
                self._ready.popitem(last=False)
        else:
            self._ready.move_to_end(number)
        return codec

    def drop(self, number: int) -> None:
        self._ready.pop(number, None)

    def clear(self) -> None:
        self._ready.clear()


def train(bodies: Sequence[bytes], limit: int = DICTIONARY_BYTES) -> bytes | None:
    """A dictionary of up to `limit` bytes for bodies like these; None if there is too little to make one of."""
    samples: list[bytes | bytearray | memoryview] = [body[:SAMPLE_BYTES] for body in bodies if body]
    # The trainer wants several times as much text as it may keep.
    size = min(limit, sum(map(len, samples)) // 4)
    try:
        if limit > DICTIONARY_BYTES:
            return zstandard.train_dictionary(size, samples, d=8, k=SEGMENT_BYTES).as_bytes()
        return zstandard.train_dictionary(size, samples, d=8, k=SEGMENT_BYTES, **_QUICK).as_bytes()
    except zstandard.ZstdError:
        # zstd refuses samples that are too few, too short or all noise: such a domain stays plain.
        return None
