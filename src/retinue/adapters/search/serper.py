"""Serper: the results of Google as JSON."""

from typing import Any

from msgspec import Struct

from retinue.adapters.search.access import EngineAccess
from retinue.adapters.search.results import Row
from retinue.adapters.search.searcher import Asked
from retinue.adapters.search.wire import Wire


class _Answer(Struct):
    organic: list[dict[str, Any]] = []


async def ask(wire: Wire, access: EngineAccess, asked: Asked) -> list[Row]:
    headers = {"X-API-KEY": access.key.reveal()}
    answer = await wire.post("/search", {"q": asked.terms, "num": asked.count}, _Answer, headers)
    return [
        Row(found.get("title"), found.get("link"), found.get("snippet"), found.get("date"))
        for found in answer.organic
    ]
