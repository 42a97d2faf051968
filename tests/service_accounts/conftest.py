"""An agent with a scripted model and a tool that needs an approval, for machines to use."""

import io
from collections.abc import Iterator

import pytest

from retinue.kit.settings import Settings
from tests.captured_logs import captured_logs
from tests.chat.conftest import agent, desk, remote, weather

__all__ = ["agent", "desk", "logged", "remote", "weather"]


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    with captured_logs(Settings()) as written:
        yield written
