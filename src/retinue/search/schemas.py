from typing import Annotated

import msgspec
from msgspec import Meta

from retinue.kit.schema.base import Schema


class SearchQuery(msgspec.Struct, kw_only=True):
    """`types` is a list separated by commas; without it, everything is searched."""

    q: Annotated[str, Meta(min_length=1, max_length=100)]
    types: Annotated[str, Meta(max_length=400)] | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 20


class SearchHit(Schema, kw_only=True):
    """An object whose name, id or description matches."""

    type: str
    id: str
    name: str
    description: str | None
    parent_id: str | None


class SearchMatches(Schema, kw_only=True):
    data: list[SearchHit]
