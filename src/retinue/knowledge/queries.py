import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list
from retinue.kit.db.statements import Statement
from retinue.kit.db.word_index import has_word
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Listing
from retinue.knowledge.models import Chunk, ChunkVectors, Document, KnowledgeBase, chunk_words

DOCUMENTS = Listing(
    Document,
    searches=("name",),
    sorts=("created_at", "updated_at", "name", "status", "size_bytes", "chunk_count", "indexed_at"),
    filters=("status",),
)

_bases, _documents = KnowledgeBase.__table__, Document.__table__
_chunks, _vectors = Chunk.__table__, ChunkVectors.__table__
_files = File.__table__
_base = sa.bindparam("base_id", type_=_documents.c.base_id.type)

COUNTS = Statement(
    sa.select(sa.func.count(), sa.func.sum(_documents.c.chunk_count)).where(_documents.c.base_id == _base)
)
DOCUMENTS_OF_CONTENT = Statement(
    sa.select(_documents.c.id, _files.c.sha256)
    .select_from(
        _documents.join(
            _files, sa.and_(_files.c.tenant_id == _documents.c.tenant_id, _files.c.id == _documents.c.file_id)
        )
    )
    .where(_documents.c.base_id == _base, in_list(_files.c.sha256, "hashes"))
    .order_by(_documents.c.created_at, _documents.c.id)
)
GENERATION = Statement(sa.select(_bases.c.generation).where(_bases.c.id == _base))
# Every row carries the generation, so that it belongs to exactly these rows.
SEARCHABLE_DOCUMENTS = Statement(
    sa.select(
        _bases.c.generation,
        _documents.c.id,
        _documents.c.revision,
        _documents.c.name,
        _documents.c.is_enabled,
        _documents.c.metadata,
        _documents.c.chunk_count,
    )
    .select_from(
        _bases.join(
            _documents,
            sa.and_(_documents.c.tenant_id == _bases.c.tenant_id, _documents.c.base_id == _bases.c.id),
        )
    )
    .where(_bases.c.id == _base, _documents.c.revision.is_not(None)),
    heavy=True,
)


def in_fixed(column: sa.Column[Any], name: str, size: int) -> Any:
    """Return a condition with a fixed number of parameters, so that it is compiled once."""
    return column.in_([sa.bindparam(f"{name}_{place}", type_=column.type) for place in range(size)])


def padded_parameters(name: str, values: Sequence[Any], size: int) -> JsonObject:
    """Return the parameters of `in_fixed`; the last value fills the remaining places."""
    padded = [*values, *[values[-1]] * (size - len(values))]
    return {f"{name}_{place}": value for place, value in enumerate(padded)}


@functools.cache
def vectors_statement(documents: int) -> Statement[Any]:
    """Select the vectors of documents, for chunk numbers within bounds."""
    return Statement(
        sa.select(
            _vectors.c.document_id, _vectors.c.first_number, _vectors.c.count, _vectors.c.vectors
        ).where(
            in_fixed(_vectors.c.document_id, "document", documents),
            _vectors.c.first_number >= sa.bindparam("first", type_=sa.BigInteger()),
            _vectors.c.first_number <= sa.bindparam("last", type_=sa.BigInteger()),
        ),
        heavy=True,
    )


@functools.cache
def _words_statement(words: int) -> Statement[Any]:
    arms = []
    for place in range(words):
        found = (
            sa.select(chunk_words.c.rowid)
            .where(has_word(chunk_words, sa.bindparam(f"word_{place}", type_=sa.Text())))
            .limit(sa.bindparam("most", type_=sa.BigInteger()))
            .subquery(f"found_{place}")
        )
        arms.append(sa.select(sa.literal(place, sa.Integer()).label("place"), found.c.rowid))
    return Statement(sa.union_all(*arms) if words > 1 else arms[0])


async def rows_with_words(ctx: Context, words: Sequence[str], *, most: int) -> list[list[int]]:
    """Return for each word the numbers of the rows that contain it, up to `most`."""
    numbers_by_word: list[list[int]] = [[] for _ in words]
    if words:
        parameters = {f"word_{place}": word for place, word in enumerate(words)}
        for place, number in await ctx.db.rows(_words_statement(len(words)), most=most, **parameters):
            numbers_by_word[place].append(number)
    return numbers_by_word


@functools.cache
def passages_statement(numbers: int) -> Statement[Any]:
    """Select chunks by number, if their document is enabled."""
    return Statement(
        sa.select(
            _chunks.c.number,
            _chunks.c.tenant_id,
            _documents.c.base_id,
            _documents.c.id,
            _documents.c.name,
            _documents.c.revision,
            _chunks.c.id,
            _chunks.c.text,
            _chunks.c.page,
            _chunks.c.heading,
        )
        .select_from(
            _chunks.join(
                _documents,
                sa.and_(
                    _documents.c.tenant_id == _chunks.c.tenant_id, _documents.c.id == _chunks.c.document_id
                ),
            )
        )
        .where(
            in_fixed(_chunks.c.number, "number", numbers),
            _documents.c.base_id == _base,
            _documents.c.is_enabled == sa.true(),
        )
    )
