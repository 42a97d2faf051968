"""Passages of a turn as the sources of its reply."""

import re
from collections.abc import Sequence

from retinue.chat.engine.parts import Source
from retinue.knowledge.retrieval import Passage

_PREVIEW_CHARACTERS = 300
# `[1]`, and `[1, 2]` as some models write it.
_MARK = re.compile(r"\[(\d{1,3}(?:\s?,\s?\d{1,3}){0,20})\]")


def build_sources(passages: Sequence[Passage]) -> list[Source]:
    """Return the passages as sources, numbered in the order in which the reply cites them."""
    return [_source(number, passage) for number, passage in enumerate(passages, 1)]


def cited_sources(text: str, sources: Sequence[Source]) -> tuple[Source, ...]:
    """Return the sources that the text cites; the others were only given to the model."""
    cited = {int(number) for marks in _MARK.findall(text) for number in marks.split(",")}
    return tuple(source for source in sources if source.index in cited)


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
