from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.frontier.base import Frontier
from tests.frontier.backends import BACKENDS, Backend


@pytest.fixture(params=BACKENDS, ids=lambda backend: backend.name)
def frontier(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Frontier]:
    """An empty frontier, once a back-end."""
    backend: Backend = request.param
    opened = backend.fresh(tmp_path)
    yield opened
    opened.close()
