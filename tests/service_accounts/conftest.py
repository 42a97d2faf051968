"""An agent with a scripted model and a tool that needs an approval, for machines to use."""

import io
import sys
from collections.abc import Iterator

import pytest
import structlog

from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings
from tests.chat.conftest import agent, desk, provider, remote, weather

__all__ = ["agent", "desk", "logged", "provider", "remote", "weather"]


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Everything that is logged from now on."""
    before, written = structlog.get_config(), io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", written)
        configure_logging(Settings(log_format="json", log_level="debug"))
    yield written
    structlog.configure(**before)
