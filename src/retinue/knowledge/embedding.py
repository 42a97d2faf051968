"""Text embeddings as unit vectors, so that a dot product is their similarity."""

from collections.abc import Sequence

import numpy as np

from retinue.adapters.llm import ModelError
from retinue.kit.context import Context
from retinue.kit.db.errors import DatabaseUnavailable, StorageFull
from retinue.kit.errors import RetinueError, VaultSealed
from retinue.kit.extras import is_installed
from retinue.kit.settings import Settings
from retinue.kit.vault.ring import RingStale
from retinue.knowledge.chunks import Vectors
from retinue.knowledge.errors import EmbeddingFailed, EmbeddingUnpaid
from retinue.providers import model_calls
from retinue.usage.errors import BudgetExceeded, ModelUnpriced
from retinue.usage.model_call import SpendingHold

EMBEDDED_MODEL = "local/all-minilm-l6-v2"
NO_MODEL = ""

# Failures of this instance, not of the model: they are retried without counting as attempts.
_OWN_FAILURES = (DatabaseUnavailable, StorageFull, VaultSealed, RingStale)


def default_embedding_model(settings: Settings) -> str:
    """Return the model for new bases; a base keeps its own, because vectors of two models do not compare.

    Without a configured model and without the embedded one it is empty: such a base is searched by words.
    """
    return settings.embedding_model or (EMBEDDED_MODEL if is_installed("local") else NO_MODEL)


async def vectors_of(
    ctx: Context, model: str, texts: Sequence[str], *, hold: SpendingHold, dimensions: int = 0
) -> Vectors:
    """Return one vector for each text; `dimensions` is the size the base already uses.

    Raise EmbeddingUnpaid if no budget pays for it, and EmbeddingFailed for everything else.
    """
    if model == NO_MODEL:
        raise EmbeddingFailed("No embedding model is configured.", is_transient=False)
    try:
        embeddings = await model_calls.embed(ctx, model, texts, hold=hold)
    except _OWN_FAILURES:
        raise
    except (BudgetExceeded, ModelUnpriced) as refusal:
        raise EmbeddingUnpaid(refusal) from refusal
    except RetinueError as error:
        raise EmbeddingFailed(error.message, is_transient=_is_transient(error)) from error
    vectors = np.asarray(embeddings.vectors, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts) or (dimensions and vectors.shape[1] != dimensions):
        raise EmbeddingFailed(f"The model {model} returned vectors of a different size.", is_transient=False)
    return normalize(vectors)


def no_vectors(count: int) -> Vectors:
    """Return vectors without any dimension, which stand for texts that are found by their words."""
    return np.empty((count, 0), np.float32)


def normalize(vectors: Vectors) -> Vectors:
    """Return unit vectors; invalid numbers and zero vectors become zeros."""
    cleaned = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(cleaned, axis=1, keepdims=True)
    normalized: Vectors = np.divide(cleaned, lengths, out=np.zeros_like(cleaned), where=lengths > 0)
    return normalized


def _is_transient(error: RetinueError) -> bool:
    return error.retryable if isinstance(error, ModelError) else error.status == 503
