"""Databases here are opened exactly as users open them."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def statements_compiled_once() -> None:
    """Compiled statements are not shared, as they are in the other tests."""
