"""Texts as vectors of length one, so that a product of two is their likeness."""

from collections.abc import Sequence

import numpy as np

from retinue.adapters.llm import ModelError
from retinue.kit.context import Context
from retinue.kit.db.errors import DatabaseUnavailable, StorageFull
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.settings import Settings
from retinue.kit.vault.ring import RingStale
from retinue.knowledge.chunks import Vectors
from retinue.knowledge.errors import EmbeddingFailed
from retinue.providers import calling

EMBEDDED_MODEL = "local/all-minilm-l6-v2"

# Not the model's doing: whoever waits for it tries again without counting.
_OURS = (DatabaseUnavailable, StorageFull, VaultSealed, RingStale)


def model_for(settings: Settings) -> str:
    """The model that new bases get; a base keeps its own, as vectors of two models cannot be compared."""
    return settings.embedding_model or EMBEDDED_MODEL


async def vectors_of(ctx: Context, model: str, texts: Sequence[str], *, dimensions: int = 0) -> Vectors:
    """One row for each text; `dimensions` is what the model has given before."""
    try:
        found = await calling.embed(ctx, model, texts)
    except _OURS:
        raise
    except RetinueError as error:
        raise EmbeddingFailed(error.message, is_passing=_is_passing(error)) from error
    made = np.asarray(found.vectors, dtype=np.float32)
    if made.ndim != 2 or len(made) != len(texts) or (dimensions and made.shape[1] != dimensions):
        raise EmbeddingFailed(f"The model {model} answered with vectors of another size.", is_passing=False)
    return normalized(made)


def normalized(vectors: Vectors) -> Vectors:
    """Of length one; what is not a number, or nothing at all, is like nothing."""
    cleaned = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(cleaned, axis=1, keepdims=True)
    made: Vectors = np.divide(cleaned, lengths, out=np.zeros_like(cleaned), where=lengths > 0)
    return made


def _is_passing(error: RetinueError) -> bool:
    return error.retryable if isinstance(error, ModelError) else error.status == 503
