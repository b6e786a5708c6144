"""The server that a module's tests share."""

from collections.abc import Iterator

import pytest
from play_server import RunningServer, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests of a module; they must leave it well."""
    with running_server(tmp_path_factory.mktemp("data"), "--workers", "2") as running:
        yield running
