"""A provider that speaks until the test lets it end, and a table to write to meanwhile."""

import asyncio

from tests.adapters.llm_server import Request
from tests.e2e.chatting import HEAD, Shop, Talk, Talker, piece


def speak_until_allowed(may_end: asyncio.Event) -> Talk:
    """Say two words, and the last one once the test allows it; `hang` never ends by itself."""

    async def talk(
        _talker: Talker, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(HEAD + piece("one ") + piece("two "))
        await writer.drain()
        if request.json["messages"][-1]["content"] == "hang":
            await reader.read()
            return
        await may_end.wait()
        writer.write(piece("end") + piece("", "stop") + b"data: [DONE]\n\n")

    return talk


async def make_table(shop: Shop) -> str:
    body = {"name": "Rows", "columns": [{"name": "title", "type": "text"}]}
    status, answer = await shop.call("POST", "/api/v1/data-tables", body)
    assert status == 201, answer
    return str(answer["data"]["id"])
