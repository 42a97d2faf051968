"""Passages of a turn as the sources of its reply."""

from collections.abc import Sequence

from retinue.chat.engine.parts import Source
from retinue.knowledge.retrieval import Passage

_PREVIEW_CHARACTERS = 300


def build_sources(passages: Sequence[Passage]) -> list[Source]:
    """Return the passages as sources, numbered in the order in which the reply cites them."""
    return [_source(number, passage) for number, passage in enumerate(passages, 1)]


def _source(number: int, passage: Passage) -> Source:
    return Source(
        document_name=passage.document_name,
        chunk_preview=passage.text[:_PREVIEW_CHARACTERS],
        relevance_score=passage.score,
        document_id=passage.document_id,
        chunk_id=passage.chunk_id,
        page=passage.page,
        index=number,
    )
