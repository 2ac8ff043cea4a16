from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.pages.base import PageStore
from tests.pages.backends import BACKENDS, Backend


@pytest.fixture(params=BACKENDS, ids=lambda backend: backend.name)
def pages(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PageStore]:
    """An empty page store, once a back-end."""
    backend: Backend = request.param
    opened = backend.fresh(tmp_path)
    yield opened
    opened.close()
