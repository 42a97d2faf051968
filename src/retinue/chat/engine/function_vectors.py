"""The vectors by which an agent's functions are found, stored by the text that they stand for.

A job embeds the texts after a tool is attached or changes; a turn only reads (ADR 40). A text that several
agents or versions share is embedded once.
"""

import hashlib
from collections.abc import Sequence

import msgspec
import numpy as np
import sqlalchemy as sa
import structlog

from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import JobKind, Retry
from retinue.knowledge.chunks import Vectors
from retinue.knowledge.embedding import NO_MODEL, default_embedding_model, vectors_of
from retinue.knowledge.errors import EmbeddingFailed
from retinue.usage.enforcement import Spender
from retinue.usage.single_call import SingleCall

log = structlog.get_logger("retinue.tool_search")

# Whatever is still in use is embedded again after that, in the background.
RETENTION_DAYS = 180
_TEXTS_PER_CALL = 64


@table(
    "function_vectors",
    prefix="fnv",
    unique=[("tenant_id", "model", "text_key")],
    indexes=[("created_at",)],
)
class FunctionVector(TenantRecord, kw_only=True):
    """The vector of a function's text as float32 of length one; `text_key` is the hash of the text."""

    model: str
    text_key: str
    vector: bytes


class FunctionTexts(msgspec.Struct):
    """Texts of functions that a search found without vectors."""

    texts: list[str]


EMBED_FUNCTIONS = JobKind("chat.embed_functions", FunctionTexts, retry=Retry((0, 10, 60, 600, 3600)))

_vectors = FunctionVector.__table__
_LOAD = Statement(
    sa.select(_vectors.c.text_key, _vectors.c.vector).where(
        _vectors.c.model == sa.bindparam("model"), in_list(_vectors.c.text_key, "keys")
    )
)
_KNOWN = Statement(
    sa.select(_vectors.c.text_key).where(
        _vectors.c.model == sa.bindparam("model"), in_list(_vectors.c.text_key, "keys")
    )
)
_PURGE = Statement(sa.delete(_vectors).where(_vectors.c.created_at < sa.bindparam("before")))


async def load_vectors(ctx: Context, texts: Sequence[str]) -> Vectors | None:
    """Return the vectors of these texts in their order; None unless all are stored."""
    keys = [_key(text) for text in texts]
    model = default_embedding_model(ctx.settings)
    stored = {row[0]: row[1] for row in await ctx.db.rows(_LOAD, model=model, keys=list_parameter(set(keys)))}
    found = [stored.get(key, b"") for key in keys]
    if not found or not found[0] or any(len(vector) != len(found[0]) for vector in found):
        return None
    return np.frombuffer(b"".join(found), np.float32).reshape(len(found), -1)


async def request_vectors(ctx: Context, texts: Sequence[str]) -> None:
    """Have a job embed the texts; while one does, nothing is added."""
    if default_embedding_model(ctx.settings) == NO_MODEL:
        return
    async with ctx.unit() as unit:
        unit.defer(EMBED_FUNCTIONS, FunctionTexts(list(texts)), dedupe_key=f"functions:{key_of(texts)}")


async def embed_functions(ctx: Context, payload: FunctionTexts) -> None:
    await store_vectors(ctx, payload.texts)


async def store_vectors(ctx: Context, texts: Sequence[str]) -> None:
    """Embed the texts that have no vector yet, batch by batch: a run that is repeated goes on from there."""
    model = default_embedding_model(ctx.settings)
    if model == NO_MODEL:
        return
    by_key = {_key(text): text for text in texts}
    waiting = list(by_key)
    while waiting:
        # Asked each time: jobs of other agents may embed the same texts.
        known = {row[0] for row in await ctx.db.rows(_KNOWN, model=model, keys=list_parameter(waiting))}
        waiting = [key for key in waiting if key not in known]
        batch, waiting = waiting[:_TEXTS_PER_CALL], waiting[_TEXTS_PER_CALL:]
        try:
            await _store_batch(ctx, model, {key: by_key[key] for key in batch})
        except EmbeddingFailed as error:
            if error.is_transient:
                raise
            log.warning("function_vectors_unavailable", reason=error.message)
            return


async def _store_batch(ctx: Context, model: str, texts: dict[str, str]) -> None:
    if not texts:
        return
    # Agents share the vectors, so they are the organization's to pay.
    hold = SingleCall(Spender())
    vectors = await vectors_of(ctx, model, list(texts.values()), hold=hold)
    async with ctx.unit() as unit:
        for key, vector in zip(texts, vectors, strict=True):
            await unit.db.insert_missing(
                FunctionVector(model=model, text_key=key, vector=vector.astype(np.float32).tobytes())
            )


async def purge_function_vectors(ctx: Context) -> None:
    before = ctx.clock.ahead(-RETENTION_DAYS * 86_400)
    await ctx.system("function vectors of every tenant").execute(_PURGE, before=before)


def key_of(texts: Sequence[str]) -> str:
    """Return the hash of some texts in their order."""
    return hashlib.sha256(msgspec.json.encode(list(texts))).hexdigest()


def _key(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
