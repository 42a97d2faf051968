"""The passages of one document, in their order."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.lists import Listing, PageQuery, Slice
from retinue.knowledge.chunks import MAX_CHUNKS, chunk_number
from retinue.knowledge.models import Chunk, Document

_chunks = Chunk.__table__


class _RevisionQuery(PageQuery, kw_only=True):
    """A page of the chunks whose numbers belong to one revision of a document."""

    first: int
    until: int


_PASSAGES = Listing(
    Chunk,
    sorts=("number",),
    default_sort="number",
    matches={
        "first": _chunks.c.number >= sa.bindparam("first", type_=sa.BigInteger()),
        "until": _chunks.c.number < sa.bindparam("until", type_=sa.BigInteger()),
    },
)


async def page_of_passages(ctx: Context, document: Document, query: PageQuery) -> Slice[Chunk]:
    """Return a page of the passages that searches find; none before the document is indexed."""
    if document.revision is None:
        return Slice([], 0, query.page, query.per_page)
    first = chunk_number(document.revision, 0)
    wanted = _RevisionQuery(page=query.page, per_page=query.per_page, first=first, until=first + MAX_CHUNKS)
    return await _PASSAGES.page(ctx.db, wanted, document_id=document.id)


def position_of(chunk: Chunk) -> int:
    """Return the place of a chunk in its document, counted from 1."""
    return chunk.number % MAX_CHUNKS + 1
