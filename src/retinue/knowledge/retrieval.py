"""Finding the passages of a base that answer a question."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import structlog

from retinue.kit.context import Context
from retinue.knowledge.base_index import LARGE, BaseIndex, IndexCache
from retinue.knowledge.chunks import POSITION_BITS, Vectors
from retinue.knowledge.embedding import vectors_of
from retinue.knowledge.errors import EmbeddingFailed
from retinue.knowledge.models import KnowledgeBase
from retinue.knowledge.queries import GENERATION, filled, passages_statement, rows_with_words
from retinue.knowledge.ranking import Hit, best, likenesses, word_scores
from retinue.knowledge.terms import indexed, query_terms

log = structlog.get_logger("retinue.knowledge")

MOST_PASSAGES = 50
LONGEST_QUERY = 4_000
# A word that so many chunks of a base have tells none of them from the others.
COMMON = 250
# Below this a passage is about something else, and nothing found is a better answer than it.
FLOOR = 0.24

_NO_FILTERS: Mapping[str, Any] = {}


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that answers a question; `score` is from 0 to 1."""

    document_id: str
    document_name: str
    chunk_id: str
    text: str
    score: float
    page: int | None
    heading: str | None


async def search(
    ctx: Context,
    base_id: str | None,
    query: str,
    *,
    top_k: int = 5,
    filters: Mapping[str, Any] | None = None,
) -> list[Passage]:
    """The passages that answer best, the best first; none where nothing does.

    `filters` are values that a document's metadata must have, or `document_id`. The model is asked for the
    query's vector, so no transaction may be open.
    """
    if ctx.unit_of_work.is_open:
        raise RuntimeError("a model is asked: nobody may wait for a transaction meanwhile")
    asked = query.strip()[:LONGEST_QUERY]
    if not base_id or not asked:
        return []
    # What is committed now, whatever the caller's own context has read before.
    reader = ctx.apart()
    base = await reader.db.get(KnowledgeBase, base_id)
    if base is None or not base.dimensions:
        return []
    vector = await _vector(reader, base, asked)
    return await find(reader, base_id, asked, vector, top_k=top_k, filters=filters or _NO_FILTERS)


async def find(
    reader: Context,
    base_id: str,
    asked: str,
    vector: Vectors | None,
    *,
    top_k: int,
    filters: Mapping[str, Any] = _NO_FILTERS,
) -> list[Passage]:
    """What answers a question whose vector is known; `reader` reads outside any transaction."""
    hits = await _hits(reader, base_id, asked, vector, filters, top_k)
    return await _passages(reader, base_id, hits, top_k)


async def _vector(reader: Context, base: KnowledgeBase, asked: str) -> Vectors | None:
    """None while the model does not answer: words alone still find what is named."""
    try:
        vectors = await vectors_of(reader, base.embedding_model, [asked], dimensions=base.dimensions)
    except EmbeddingFailed as error:
        log.warning("query_not_embedded", base_id=base.id, model=base.embedding_model, error=error.message)
        return None
    vector: Vectors = vectors[0]
    return vector


async def _hits(
    reader: Context,
    base_id: str,
    asked: str,
    vector: Vectors | None,
    filters: Mapping[str, Any],
    top_k: int,
) -> list[tuple[int, Hit]]:
    """The numbers of the best chunks; some to spare, for what is deleted before it is read."""
    generation = await reader.db.scalar(GENERATION, base_id=base_id)
    if generation is None:
        return []
    index = await IndexCache.of(reader).fetch(reader, base_id, generation)
    words = [indexed(base_id, word) for word in query_terms(asked)]
    is_large = len(index) >= LARGE
    found = await rows_with_words(reader, words, most=COMMON)
    most = min(2 * top_k, MOST_PASSAGES) + top_k
    if is_large:
        hits = await asyncio.to_thread(_ranked, index, vector, found, filters, most)
    else:
        hits = _ranked(index, vector, found, filters, most)
    return [(int(index.numbers[hit.row]), hit) for hit in hits if hit.relevance >= FLOOR]


def _ranked(
    index: BaseIndex,
    vector: Vectors | None,
    found: Sequence[Sequence[int]],
    filters: Mapping[str, Any],
    most: int,
) -> list[Hit]:
    if not len(index):
        return []
    likeness = likenesses(index.matrix, vector) if vector is not None else None
    postings = [index.rows_of(numbers) for numbers in found]
    common = min(COMMON, len(index))
    return best(likeness, word_scores(postings, len(index), common=common), index.allowed(filters), most)


async def _passages(
    reader: Context, base_id: str, hits: Sequence[tuple[int, Hit]], top_k: int
) -> list[Passage]:
    """The chunks as they are stored now, left out whatever is not this tenant's, this base's and current."""
    if not hits:
        return []
    numbers = [number for number, _ in hits]
    size = 1 << (len(numbers) - 1).bit_length()
    rows = await reader.db.rows(passages_statement(size), base_id=base_id, **filled("number", numbers, size))
    stored = {
        row[0]: row
        for row in rows
        if (row[1], row[2]) == (reader.tenant_id, base_id) and row[0] >> POSITION_BITS == row[5]
    }
    return [_passage(stored[number], hit) for number, hit in hits if number in stored][:top_k]


def _passage(row: Sequence[Any], hit: Hit) -> Passage:
    _number, _tenant_id, _base_id, document_id, name, _revision, chunk_id, text, page, heading = row
    return Passage(
        document_id=document_id,
        document_name=name,
        chunk_id=chunk_id,
        text=text,
        score=hit.relevance,
        page=page,
        heading=heading,
    )
