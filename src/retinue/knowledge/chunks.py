"""Storage of chunks: their texts, words and vectors, written and erased together."""

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from retinue.adapters.documents import DocumentPiece
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.knowledge.job_kinds import ERASE_REVISION, RevisionToErase
from retinue.knowledge.models import Chunk, ChunkVectors, Document, chunk_words
from retinue.knowledge.terms import hash_terms

Vectors = npt.NDArray[np.float32]

POSITION_BITS = 16
MAX_CHUNKS = 1 << POSITION_BITS
_REVISION_BITS = 63 - POSITION_BITS
_ERASE_BATCH_SIZE = 256

_chunks, _vectors = Chunk.__table__, ChunkVectors.__table__
_first, _until = (sa.bindparam(name, type_=sa.BigInteger()) for name in ("first", "until"))
_document = sa.bindparam("document_id", type_=_chunks.c.document_id.type)

_ADD_WORDS = Statement(
    sa.insert(chunk_words).values(
        rowid=sa.bindparam("number", type_=sa.BigInteger()),
        words=sa.bindparam("words", type_=chunk_words.c.words.type),
    )
)
_LAST_NUMBER = Statement(
    sa.select(sa.func.max(_chunks.c.number)).where(
        _chunks.c.document_id == _document, _chunks.c.number >= _first, _chunks.c.number < _until
    )
)
_ERASE: tuple[Statement[Any], ...] = (
    Statement(sa.delete(chunk_words).where(chunk_words.c.rowid >= _first, chunk_words.c.rowid < _until)),
    Statement(
        sa.delete(_vectors).where(
            _vectors.c.document_id == _document,
            _vectors.c.first_number >= _first,
            _vectors.c.first_number < _until,
        )
    ),
    Statement(
        sa.delete(_chunks).where(
            _chunks.c.document_id == _document, _chunks.c.number >= _first, _chunks.c.number < _until
        )
    ),
)


def new_revision() -> int:
    """Return a random upper part for the numbers of a document's chunks; no counter is needed."""
    return secrets.randbits(_REVISION_BITS)


def chunk_number(revision: int, position: int) -> int:
    return revision << POSITION_BITS | position


async def write_chunks(
    ctx: Context, document: Document, revision: int, pieces: Sequence[DocumentPiece], vectors: Vectors
) -> None:
    """Store consecutive pieces of a document with their vectors."""
    numbers = [chunk_number(revision, piece.position) for piece in pieces]
    await ctx.db.insert_many(
        Chunk(document_id=document.id, number=number, text=piece.text, page=piece.page, heading=piece.heading)
        for number, piece in zip(numbers, pieces, strict=True)
    )
    await ctx.db.execute_many(
        _ADD_WORDS,
        [
            {"number": number, "words": hash_terms(document.base_id, piece.embedded)}
            for number, piece in zip(numbers, pieces, strict=True)
        ],
    )
    await ctx.db.insert(
        ChunkVectors(
            document_id=document.id,
            first_number=numbers[0],
            count=len(numbers),
            vectors=vectors.astype("<f4").tobytes(),
        )
    )


def enqueue_erasure(ctx: Context, document_id: str, *revisions: int | None) -> None:
    """Erase revisions that are no longer searched, in small steps after this transaction."""
    for revision in revisions:
        if revision is not None:
            ctx.defer(ERASE_REVISION, RevisionToErase(document_id=document_id, revision=revision))


async def erase_revision(ctx: Context, payload: RevisionToErase) -> None:
    """Erase from the end to the start, so that a crash leaves rows the next attempt finds."""
    first = chunk_number(payload.revision, 0)
    until = first + MAX_CHUNKS
    while True:
        async with ctx.unit() as unit:
            last = await unit.db.scalar(
                _LAST_NUMBER, document_id=payload.document_id, first=first, until=until
            )
            if last is None:
                return
            step = max(first, last - _ERASE_BATCH_SIZE + 1)
            for erase in _ERASE:
                await unit.db.execute(erase, document_id=payload.document_id, first=step, until=last + 1)
