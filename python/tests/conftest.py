"""The tests need a server that holds the project in `xtask/src/test/trainers/project`, and its URL and a token with the scope
`run` in GROUNDSTATE_URL and GROUNDSTATE_TOKEN. Without them they are skipped."""

import os
import pathlib
import sys

import pytest
from groundstate import Client


@pytest.fixture
def client():
    if not (os.environ.get("GROUNDSTATE_URL") and os.environ.get("GROUNDSTATE_TOKEN")):
        pytest.skip("GROUNDSTATE_URL and GROUNDSTATE_TOKEN are not set")
    with Client() as client:
        yield client


@pytest.fixture
def endpoint():
    """An OpenAI-compatible endpoint that keeps the doors."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "xtask/src/test/trainers"))
    from stub_endpoint import Endpoint, keep_doors

    with Endpoint(keep_doors) as endpoint:
        yield endpoint
