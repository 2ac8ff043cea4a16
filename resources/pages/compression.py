"""zstd for bodies and heads: plain at first, then with a dictionary trained on the domain's own pages.

Pages of one site share their layout. A dictionary of that layout makes each body about a third smaller than plain zstd
at the same price. Bodies of one site that are compressed together (`shared`) find in each other what no dictionary
has; reading one of them then decompresses all of them. Dictionaries are kept by the store, named by number, and never
change; a frame names the one it needs.

Costs per 30 KB page: compressing 0.15 ms of CPU, decompressing 0.03 ms; training 0.015 s.
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
    "FRAME_BYTES",
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

#: Bodies that share a frame: as much HTML as a frame takes. A whole one decompresses in 0.2 ms, which is the price of
#: reading any body in it. Documentation becomes 8.6x smaller with 64 KB, 9.0x with 256 KB, 9.1x with 384 KB.
FRAME_BYTES = 384 * 1024

#: LEVEL for such frames, with a dictionary or without. A table of 2^18 entries holds both the dictionary and the frame:
#: half of it is 3 % cheaper and 1.3 % larger. One step of searching less than above: each step costs 3 %, the last one
#: gains 1 %, the one before it 1.7 %. Three quarters of the time go into noting each position, whatever is searched.
_SHARED = {**_WITH_DICTIONARY, "hash_log": 18, "search_log": 4}

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

#: What of each page is looked at: bounds the time of training whatever the size of the pages. Twice as much takes a
#: quarter longer and gains 0.1 %.
SAMPLE_BYTES = 32 * 1024

#: The same for dense stores.
DENSE_SAMPLE_BYTES = 64 * 1024

#: Length of the segments the trainer picks: a typical run of shared markup. Given, so that it does not
#: search for the best one, which takes four times as long and gains nothing.
SEGMENT_BYTES = 1024

#: For the dictionaries of `put`: a table of frequencies that fits the processor's cache and fewer positions looked at
#: take 10 ms instead of 40 and cost nothing that can be measured.
_QUICK = {"f": 16, "accel": 10}

#: Bodies of a domain before its first dictionary: enough to know what its pages share. (Those before it
#: stay plain until `maintain`: 64 would leave a crawl of a thousand pages 2 % larger.)
TRAIN_AT = 32

#: Decoded bytes before the first dictionary, which takes some 60 KB itself.
TRAIN_AT_BYTES = 512 * 1024

#: Window and tables are made for bodies of about this size; larger ones compress a little less.
TYPICAL_BYTES = 128 * 1024

#: Codecs kept ready. One with a dictionary takes 0.3 MB to read with and 2 MB more once it has written; making it again
#: takes 1.5 ms.
READY = 24


def content_hash(body: bytes) -> bytes:
    """xxh3-128 of a body: 16 bytes, what `PageHead.content_hash` holds."""
    return xxhash.xxh3_128_digest(body)


class Codec:
    """Compresses with one dictionary, or none. ValueError from `decompress` for what is not its work.

    `raw`: the dictionary is plain text and not trained; `shared`: for frames of several bodies.
    """

    __slots__ = ("_compressor", "_decompressor", "_dictionary", "_level", "_shared")

    def __init__(
        self, dictionary: bytes | None, level: int, *, raw: bool = False, shared: bool = False
    ) -> None:
        self._level = level
        self._shared = shared
        self._compressor: zstandard.ZstdCompressor | None = None
        self._dictionary: zstandard.ZstdCompressionDict | None = None
        if dictionary is not None:
            kind = zstandard.DICT_TYPE_RAWCONTENT if raw else zstandard.DICT_TYPE_FULLDICT
            self._dictionary = zstandard.ZstdCompressionDict(dictionary, dict_type=kind)
        self._decompressor = zstandard.ZstdDecompressor(dict_data=self._dictionary)

    def compress(self, data: bytes) -> bytes:
        if self._compressor is None:  # whoever only reads never needs its tables
            self._compressor = self._make_compressor()
        return self._compressor.compress(data)

    def _make_compressor(self) -> zstandard.ZstdCompressor:
        words = self._dictionary
        if self._level == LEVEL and (self._shared or words is not None):
            parameters = zstandard.ZstdCompressionParameters(
                **(_SHARED if self._shared else _WITH_DICTIONARY), write_dict_id=1
            )
        elif words is None:
            return zstandard.ZstdCompressor(level=self._level)
        else:
            parameters = zstandard.ZstdCompressionParameters.from_level(
                self._level,
                source_size=FRAME_BYTES if self._shared else TYPICAL_BYTES,
                dict_size=len(words),
                write_dict_id=1,
            )
        if words is None:
            return zstandard.ZstdCompressor(compression_params=parameters)
        words.precompute_compress(compression_params=parameters)
        return zstandard.ZstdCompressor(compression_params=parameters, dict_data=words)

    def decompress(self, data: bytes) -> bytes:
        try:
            return self._decompressor.decompress(data)
        except zstandard.ZstdError as error:
            raise ValueError(f"not a zstd frame of this dictionary: {error}") from error

    def beginning(self, data: bytes, length: int) -> bytes:
        """The first `length` bytes of what `data` decompresses to, at no more than their share of the price; fewer if
        there are no more. What comes after them is not looked at."""
        try:
            return self._decompressor.stream_reader(data, read_size=max(1, len(data))).read(length)
        except zstandard.ZstdError as error:
            raise ValueError(f"not a zstd frame of this dictionary: {error}") from error


class Codecs:
    """Codecs by dictionary number, the latest used kept ready. Number 0 means no dictionary.

    `load(number)` fetches a dictionary's bytes; KeyError if the store has it no more.
    """

    def __init__(
        self, load: Callable[[int], bytes], level: int, *, raw: bool = False, shared: bool = False
    ) -> None:
        self._load = load
        self._level = level
        self._raw = raw
        self._shared = shared
        self._plain = Codec(None, level, shared=shared)
        self._ready: OrderedDict[int, Codec] = OrderedDict()

    def __getitem__(self, number: int) -> Codec:
        if not number:
            return self._plain
        codec = self._ready.get(number)
        if codec is None:
            codec = self._ready[number] = Codec(
                self._load(number), self._level, raw=self._raw, shared=self._shared
            )
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
    dense = limit > DICTIONARY_BYTES
    most = DENSE_SAMPLE_BYTES if dense else SAMPLE_BYTES
    samples: list[bytes | bytearray | memoryview] = [body[:most] for body in bodies if body]
    # The trainer wants several times as much text as it may keep.
    size = min(limit, sum(map(len, samples)) // 4)
    try:
        if dense:
            return zstandard.train_dictionary(size, samples, d=8, k=SEGMENT_BYTES).as_bytes()
        return zstandard.train_dictionary(size, samples, d=8, k=SEGMENT_BYTES, **_QUICK).as_bytes()
    except zstandard.ZstdError:
        # zstd refuses samples that are too few, too short or all noise: such a domain stays plain.
        return None
