"""The real weights of the embedded models, fetched once for this machine and shared by all tests."""

import functools
from pathlib import Path

from retinue.adapters.embedded.weights import WEIGHTS_CATALOGUE
from retinue.adapters.embedded.weights_download import pull

MODELS = Path(__file__).parents[2] / ".cache" / "models"


@functools.cache
def fetch_weights() -> Path:
    """Return the folder of the weights; fails without a package index."""
    pull(MODELS, WEIGHTS_CATALOGUE)
    return MODELS
