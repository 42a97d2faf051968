"""Retrieval of the passages of a base that answer a question."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import msgspec
import structlog

from retinue.kit.context import Context
from retinue.kit.metrics import declarations as metrics
from retinue.kit.tracing import names
from retinue.kit.tracing.recorder import ActiveSpan, start_span
from retinue.knowledge.chunks import POSITION_BITS, Vectors
from retinue.knowledge.embedding import vectors_of
from retinue.knowledge.errors import EmbeddingFailed, EmbeddingUnpaid
from retinue.knowledge.models import KnowledgeBase, TrainingStatus
from retinue.knowledge.queries import GENERATION, padded_parameters, passages_statement, rows_with_words
from retinue.knowledge.ranking import Hit, best_hits, similarities, word_scores
from retinue.knowledge.terms import hash_term, query_terms
from retinue.knowledge.vector_index import THREADED_MIN_CHUNKS, IndexCache, VectorIndex
from retinue.usage.model_call import SpendingHold

log = structlog.get_logger("retinue.knowledge")

MAX_PASSAGES = 50
# Passages that a turn is given.
TURN_PASSAGES = 5
MAX_QUERY_LENGTH = 4_000
# A word that this many chunks of a base contain distinguishes none of them.
COMMON_WORD_CHUNKS = 250
# Passages below this are unrelated, and no result is better than an unrelated one.
MIN_RELEVANCE = 0.24

BY_WORDS_WARNING = "searched_by_words"
"""The warning that no budget paid for the vector of a question, so that only its words found passages."""

_NO_FILTERS: Mapping[str, Any] = {}


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that answers a question; `score` is from 0 to 1.

    `similarity` and `word_share` are what the score is made of; the former is None without a vector.
    """

    document_id: str
    document_name: str
    chunk_id: str
    text: str
    score: float
    page: int | None
    heading: str | None
    similarity: float | None
    word_share: float


class FoundInDocuments(msgspec.Struct, frozen=True):
    """The passages found, best first; `is_unpaid` if no budget paid for the vector of the question."""

    passages: list[Passage]
    is_unpaid: bool = False


async def search(
    ctx: Context,
    base_id: str | None,
    query: str,
    *,
    hold: SpendingHold,
    top_k: int = TURN_PASSAGES,
    filters: Mapping[str, Any] | None = None,
    min_relevance: float = MIN_RELEVANCE,
) -> FoundInDocuments:
    """Return the best passages; none if nothing is relevant.

    `filters` are values a document's metadata must have, or `document_id`. The query is embedded by a model
    that `hold` pays for, so no transaction may be open; unpaid, the words of the question find what they can.
    """
    if ctx.unit_of_work.is_open:
        raise RuntimeError("a search calls a model, so no transaction may be open")
    question = query.strip()[:MAX_QUERY_LENGTH]
    if not base_id or not question:
        return FoundInDocuments([])
    # Read the latest committed state, whatever the caller's context has read before.
    reader, began = ctx.detached(), ctx.clock.monotonic()
    base = await reader.db.get(KnowledgeBase, base_id)
    if base is None:
        return FoundInDocuments([])
    is_unpaid = False
    with start_span(f"retrieval {base_id}", "retrieval") or nullcontext() as span:
        try:
            vector = await _embed_question(reader, base, question, hold)
        except EmbeddingUnpaid:
            vector, is_unpaid = None, True
        passages = await find_passages(
            reader,
            base_id,
            question,
            vector,
            top_k=top_k,
            filters=filters or _NO_FILTERS,
            min_relevance=min_relevance,
        )
        if span is not None:
            _describe_search(span, base_id, top_k, passages, is_unpaid=is_unpaid)
    metrics.RETRIEVAL_DURATION.observe(ctx.clock.monotonic() - began)
    return FoundInDocuments(passages, is_unpaid)


def _describe_search(
    span: ActiveSpan, base_id: str, top_k: int, passages: list[Passage], *, is_unpaid: bool
) -> None:
    span.set(
        {
            names.OPERATION: "retrieval",
            names.DATA_SOURCE_ID: base_id,
            names.CANDIDATES: top_k,
            names.RETURNED: len(passages),
        }
    )
    if is_unpaid:
        span.set({names.BY_WORDS: "budget"})
    if passages:
        scores = [round(passage.score, 6) for passage in passages]
        documents = [passage.document_id for passage in passages]
        span.add_event(names.RETRIEVAL_SCORES_EVENT, {"scores": scores, "document_ids": documents})


async def is_indexing(ctx: Context, base_id: str) -> bool:
    """Return whether documents of the base wait to be indexed."""
    base = await ctx.detached().db.get(KnowledgeBase, base_id)
    return base is not None and base.run_status is TrainingStatus.training


async def is_searchable(ctx: Context, base_id: str) -> bool:
    """Return whether the base has a document that can be found."""
    reader = ctx.detached()
    generation = await reader.db.scalar(GENERATION, base_id=base_id)
    if generation is None:
        return False
    return len(await IndexCache.of(reader).fetch(reader, base_id, generation)) > 0


async def find_passages(
    reader: Context,
    base_id: str,
    question: str,
    vector: Vectors | None,
    *,
    top_k: int,
    filters: Mapping[str, Any] = _NO_FILTERS,
    min_relevance: float = MIN_RELEVANCE,
) -> list[Passage]:
    """Return the passages for a question with a known vector; `reader` reads outside transactions."""
    hits = await _find_hits(reader, base_id, question, vector, filters, top_k)
    relevant = [(number, hit) for number, hit in hits if hit.relevance >= min_relevance]
    return await _passages(reader, base_id, relevant, top_k)


async def _embed_question(
    reader: Context, base: KnowledgeBase, question: str, hold: SpendingHold
) -> Vectors | None:
    """Return the question's vector; None if the model fails, since words alone still find names.

    None also if no document has a vector: the base is empty, or its documents were indexed without a model.
    """
    if not base.dimensions:
        return None
    model, dimensions = base.embedding_model, base.dimensions
    try:
        vectors = await vectors_of(reader, model, [question], hold=hold, dimensions=dimensions)
    except EmbeddingUnpaid:
        raise
    except EmbeddingFailed as error:
        log.warning("query_not_embedded", base_id=base.id, model=base.embedding_model, error=error.message)
        return None
    vector: Vectors = vectors[0]
    return vector


async def _find_hits(
    reader: Context,
    base_id: str,
    question: str,
    vector: Vectors | None,
    filters: Mapping[str, Any],
    top_k: int,
) -> list[tuple[int, Hit]]:
    """Return the numbers of the best chunks, with spares for chunks deleted in the meantime."""
    generation = await reader.db.scalar(GENERATION, base_id=base_id)
    if generation is None:
        return []
    index = await IndexCache.of(reader).fetch(reader, base_id, generation)
    words = [hash_term(base_id, word) for word in query_terms(question)]
    is_large = len(index) >= THREADED_MIN_CHUNKS
    rows_by_word = await rows_with_words(reader, words, most=COMMON_WORD_CHUNKS)
    most = min(2 * top_k, MAX_PASSAGES) + top_k
    if is_large:
        hits = await asyncio.to_thread(_rank, index, vector, rows_by_word, filters, most)
    else:
        hits = _rank(index, vector, rows_by_word, filters, most)
    return [(int(index.numbers[hit.row]), hit) for hit in hits]


def _rank(
    index: VectorIndex,
    vector: Vectors | None,
    rows_by_word: Sequence[Sequence[int]],
    filters: Mapping[str, Any],
    most: int,
) -> list[Hit]:
    if not len(index):
        return []
    is_comparable = index.matrix.shape[1] > 0
    similarity = similarities(index.matrix, vector) if vector is not None and is_comparable else None
    postings = [index.rows_for_numbers(numbers) for numbers in rows_by_word]
    # Where nothing but words can find a chunk, a word of every chunk still tells that they are about it.
    common = min(COMMON_WORD_CHUNKS, len(index) + (similarity is None))
    return best_hits(
        similarity, word_scores(postings, len(index), common=common), index.allowed(filters), most
    )


async def _passages(
    reader: Context, base_id: str, hits: Sequence[tuple[int, Hit]], top_k: int
) -> list[Passage]:
    """Load the chunks, without those of other tenants, other bases or outdated revisions."""
    if not hits:
        return []
    numbers = [number for number, _ in hits]
    size = 1 << (len(numbers) - 1).bit_length()
    rows = await reader.db.rows(
        passages_statement(size), base_id=base_id, **padded_parameters("number", numbers, size)
    )
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
        similarity=hit.similarity,
        word_share=hit.coverage,
    )
