"""Bodies that are compressed together, and each found again."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from resources.pages.compression import DENSE_LEVEL, LEVEL, Codec, content_hash
from resources.pages.sqlite import frames
from resources.pages.sqlite.frames import Frame, Member, Place, cut, squeeze
from tests.pages.samples import article

#: Small frames, so that few bytes make many.
ROOM = 100

BODIES = st.lists(st.binary(max_size=ROOM * 2), unique=True, max_size=30).map(
    lambda bodies: {content_hash(body): body for body in bodies}
)
CODECS = [Codec(None, LEVEL, shared=True), Codec(b"<p>Hello</p>" * 40, LEVEL, raw=True, shared=True)]


@pytest.fixture(scope="module", autouse=True)
def room() -> object:
    patch = pytest.MonkeyPatch()
    patch.setattr(frames, "FRAME_BYTES", ROOM)
    yield
    patch.undo()


def place(frame: Frame, member: Member) -> Place:
    return Place(1, 0, len(frame.data), frame.dictionary, member.start, member.length, frame.length)


@given(BODIES, st.sampled_from(CODECS))
def test_each_body_is_in_one_frame_and_comes_back_whole(bodies: dict[bytes, bytes], codec: Codec) -> None:
    made = squeeze(codec, 7, bodies)
    found = {
        member.content: cut(codec.decompress(frame.data), place(frame, member))
        for frame in made
        for member in frame.members
    }
    assert found == bodies
    assert sum(len(frame.members) for frame in made) == len(bodies)
    assert {frame.dictionary for frame in made} <= {7}


@given(BODIES, st.sampled_from(CODECS))
def test_a_body_is_read_without_those_after_it(bodies: dict[bytes, bytes], codec: Codec) -> None:
    for frame in squeeze(codec, 0, bodies):
        for member in frame.members:
            end = member.start + (member.length or 0)
            text = codec.beginning(frame.data, end)
            assert text[member.start :] == bodies[member.content]


@given(BODIES)
def test_frames_are_full_but_not_too_full(bodies: dict[bytes, bytes]) -> None:
    made = squeeze(CODECS[0], 0, bodies)
    for frame in made:
        assert frame.length == sum(len(bodies[member.content]) for member in frame.members)
        assert frame.length <= ROOM or len(frame.members) == 1
    assert sum((frame.length or 0) * 2 < ROOM for frame in made) <= 1


@given(BODIES)
def test_neighbours_stay_in_their_order(bodies: dict[bytes, bytes]) -> None:
    order = list(bodies)
    for frame in squeeze(CODECS[0], 0, bodies):
        at = [order.index(member.content) for member in frame.members]
        assert at == sorted(at)


def test_a_frame_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="a frame of 3 bytes where 4 were written"):
        cut(b"abc", Place(1, 0, 9, 0, 0, 2, 4))


@pytest.mark.parametrize("level", [LEVEL, DENSE_LEVEL])
def test_pages_of_one_site_are_smaller_together(level: int) -> None:
    codec = Codec(None, level, shared=True)
    pages = [article(number) for number in range(10)]
    together = codec.compress(b"".join(pages))
    assert codec.decompress(together) == b"".join(pages)
    assert len(together) * 2 < sum(len(codec.compress(page)) for page in pages)
