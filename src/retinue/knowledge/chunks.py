"""Chunks in the database: their text, their words and their vectors, written and erased together."""

import secrets
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from retinue.adapters.documents import Piece
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import Retry, job
from retinue.knowledge.models import Chunk, ChunkVectors, Document, chunk_words
from retinue.knowledge.terms import indexed_text

Vectors = npt.NDArray[np.float32]

POSITION_BITS = 16
MOST_CHUNKS = 1 << POSITION_BITS
_REVISION_BITS = 63 - POSITION_BITS
_ERASED_AT_ONCE = 256

_chunks, _vectors = Chunk.__table__, ChunkVectors.__table__
_first, _until = (sa.bindparam(name, type_=sa.BigInteger()) for name in ("first", "until"))
_document = sa.bindparam("document_id", type_=_chunks.c.document_id.type)

_ADD_WORDS: Statement[Any] = Statement(
    sa.insert(chunk_words).values(
        rowid=sa.bindparam("number", type_=sa.BigInteger()),
        words=sa.bindparam("words", type_=chunk_words.c.words.type),
    )
)
_LAST: Statement[Any] = Statement(
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
    """The upper part of the numbers of a document's chunks; by chance, so that nobody has to count."""
    return secrets.randbits(_REVISION_BITS)


def number_of(revision: int, position: int) -> int:
    return revision << POSITION_BITS | position


async def write(
    ctx: Context, document: Document, revision: int, pieces: Sequence[Piece], vectors: Vectors
) -> None:
    """Consecutive pieces of a document, each with the vector in its place."""
    numbers = [number_of(revision, piece.position) for piece in pieces]
    await ctx.db.insert_many(
        Chunk(document_id=document.id, number=number, text=piece.text, page=piece.page, heading=piece.heading)
        for number, piece in zip(numbers, pieces, strict=True)
    )
    await ctx.db.execute_many(
        _ADD_WORDS,
        [
            {"number": number, "words": indexed_text(document.base_id, piece.embedded)}
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


class RevisionToErase(msgspec.Struct):
    document_id: str
    revision: int


def erase_later(ctx: Context, document_id: str, *revisions: int | None) -> None:
    """Nobody finds these any more; the rows go in small steps after this transaction."""
    for revision in revisions:
        if revision is not None:
            ctx.defer(erase_revision, RevisionToErase(document_id=document_id, revision=revision))


@job(retry=Retry((0, 5, 60, 600, 3600, 21600)), timeout_s=1800, transactional=False)
async def erase_revision(ctx: Context, payload: RevisionToErase) -> None:
    """From the end to the start: what is left after a crash is found again by its largest number."""
    first = number_of(payload.revision, 0)
    until = first + MOST_CHUNKS
    while True:
        async with ctx.unit() as unit:
            last = await unit.db.scalar(_LAST, document_id=payload.document_id, first=first, until=until)
            if last is None:
                return
            step = max(first, last - _ERASED_AT_ONCE + 1)
            for erase in _ERASE:
                await unit.db.execute(erase, document_id=payload.document_id, first=step, until=last + 1)
