"""Finds objects of every domain by name, id or description, as far as the caller may see them."""

from retinue.kit.context import Context
from retinue.kit.context.search_sources import SearchSource
from retinue.kit.errors import Invalid
from retinue.search.queries import Match, find_matches
from retinue.search.schemas import SearchHit, SearchQuery

_MAX_DESCRIPTION_LENGTH = 200


async def search(ctx: Context, query: SearchQuery) -> list[SearchHit]:
    """Return the best matches: by id, beginning of a name or of its words, within names, in descriptions."""
    text = query.q.strip()
    if not text:
        raise Invalid({"q": "must not be blank"})
    found: list[tuple[int, int, SearchHit]] = []
    seen: set[str] = set()
    for order, source in enumerate(_sources(ctx, query.types)):
        for match in await find_matches(ctx, source, text, query.limit):
            if match[0] not in seen:
                seen.add(match[0])
                found.append((match[-1], order, _hit(source, match)))
    found.sort(key=lambda one: (one[0], one[1]))
    return [hit for _, _, hit in found[: query.limit]]


def _sources(ctx: Context, types: str | None) -> list[SearchSource]:
    sources = ctx.instance.registry.all(SearchSource)
    if types is not None:
        wanted = {name.strip() for name in types.split(",") if name.strip()}
        unknown = wanted - {source.kind for source in sources}
        if unknown or not wanted:
            known = ", ".join(sorted(source.kind for source in sources))
            raise Invalid({"types": f"must be a list of {known}"})
        sources = tuple(source for source in sources if source.kind in wanted)
    return [source for source in sources if ctx.principal.may(source.requires)]


def _hit(source: SearchSource, match: Match) -> SearchHit:
    id, name, description, parent_id, _ = match
    return SearchHit(
        type=source.kind,
        id=id,
        name=name or description or id,
        description=description[:_MAX_DESCRIPTION_LENGTH] if description else None,
        parent_id=parent_id or None,
    )
