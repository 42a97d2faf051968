"""Capturing of logs while a test runs."""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import replace

import structlog

from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings


@contextlib.contextmanager
def captured_logs(settings: Settings) -> Iterator[io.StringIO]:
    """Yield everything that is logged from now on, from level debug up."""
    before, written = structlog.get_config(), io.StringIO()
    with contextlib.redirect_stderr(written):
        configure_logging(replace(settings, log_format="json", log_level="debug"))
    try:
        yield written
    finally:
        structlog.configure(**before)
