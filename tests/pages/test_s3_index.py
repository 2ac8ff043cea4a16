"""The index of a domain on S3: what packs repeat is what was known when they were written.

Packs are merged and journals are repeated in packs, so a version that stood between two others may be told after them,
or not at all any more. The dates of those that are left are what they were.
"""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import example, given

from resources.pages.base import PageHead
from resources.pages.incoming import KEEP
from resources.pages.s3.index import Index
from resources.pages.s3.pack import Footer, head_record
from tests.pages.samples import DOMAIN, version

BODIES = (b"one", b"two", b"three")


def footer(head: PageHead) -> Footer:
    """A pack that tells of this one version."""
    return Footer((0, 0, False), {}, [["v", None, None, head_record(head)]], 0)


def known(index: Index) -> list[PageHead]:
    (versions,) = index.pages.values()
    return [index.head(each) for each in versions]


def expected(heads: list[PageHead]) -> list[PageHead]:
    """The newest version of each run of equal bodies, the last of them first."""
    runs: list[PageHead] = []
    for head in heads:
        head = replace(head, first_seen_at=heads[0].first_seen_at)
        if runs and runs[-1].content_hash == head.content_hash:
            runs[-1] = replace(head, changed_at=runs[-1].changed_at)
        else:
            runs.append(head)
    return runs[: -KEEP - 2 : -1]


@given(
    bodies=st.lists(st.sampled_from(BODIES), min_size=1, max_size=6),
    first=st.integers(0, 6),
    turned=st.booleans(),
)
# The newest is told before the one between: it must not seem unchanged since the first.
@example(bodies=[b"two", b"one", b"two"], first=1, turned=False)
def test_repeated_versions_keep_their_dates(bodies: list[bytes], first: int, turned: bool) -> None:
    """`first`: so many versions are in the packs that told of them; the rest only as a later pack repeats it."""
    heads = [version("/a", body, float(at + 1)).head for at, body in enumerate(bodies)]
    index = Index(DOMAIN)
    for at, head in enumerate(heads):
        index.apply(f"{at:020d}", footer(head))
    assert known(index) == expected(heads)

    (versions,) = index.pages.values()
    repeated = [["v", list(each.order), list(each.revision), index.record(each)] for each in versions]
    again = Index(DOMAIN)
    for at, head in enumerate(heads[:first]):
        again.apply(f"{at:020d}", footer(head))
    again.apply("1", Footer((0, 0, False), {}, repeated[::-1] if turned else repeated, 0))
    assert known(again) == expected(heads)
