"""Clients that chat in every way while the server is killed, and a ledger of what they were told."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

from tests.adapters.llm_server import Request
from tests.e2e.chatting import HEAD, Shop, StreamClient, Talker, piece, whole
from tests.e2e.load import HalfAnswer, Unreachable

_PATIENCE_S = 20
_PAUSE_S = 0.02


def answer_to(question: str) -> str:
    return f"This is what I have to say about {question}."


async def answer_slowly(
    _talker: Talker, request: Request, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer the question in pieces with pauses, so that a kill may come between any two of them."""
    asked = request.json
    # What was asked before without an answer stands in the same message.
    text = answer_to(asked["messages"][-1]["content"].rpartition("\n\n")[2])
    await asyncio.sleep(random.uniform(0, 0.05))
    if not asked.get("stream"):
        writer.write(whole(text))
        return
    writer.write(HEAD)
    for start in range(0, len(text), 12):
        writer.write(piece(text[start : start + 12]))
        await writer.drain()
        await asyncio.sleep(random.uniform(0, 0.02))
    writer.write(piece("", "stop") + b"data: [DONE]\n\n")


@dataclass
class Told:
    """A reply as its client received it."""

    conversation_id: str
    question: str
    content: str


@dataclass
class ChatLedger:
    """`replies` and `jobs` were acknowledged; what else was `asked` may be there or not."""

    asked: set[str] = field(default_factory=set)
    replies: dict[str, Told] = field(default_factory=dict)
    jobs: dict[str, str] = field(default_factory=dict)
    refused: list[Any] = field(default_factory=list)
    cut_off: int = 0


class Chatters:
    """Each says one thing after the other in its own way until told to stop, across restarts."""

    def __init__(self, shop: Shop, of_each: int = 4) -> None:
        self.ledger = ChatLedger()
        self._shop = shop
        self._of_each = of_each
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        ways = (self._reply, self._stream, self._accept)
        self._tasks = [
            asyncio.create_task(self._work(way, f"{way.__name__.strip('_')} {number}"))
            for way in ways
            for number in range(self._of_each)
        ]

    async def finish(self) -> ChatLedger:
        self._stop.set()
        await asyncio.gather(*self._tasks)
        return self.ledger

    async def _work(self, way: Any, name: str) -> None:
        """Hold conversations of several messages; continue one that a kill cut off like any other."""
        number, conversation_id = 0, None
        while not self._stop.is_set():
            number += 1
            question = f"{name} question {number}"
            self.ledger.asked.add(question)
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    conversation_id = await way(question, conversation_id if number % 5 else None)
            except ConnectionRefusedError:
                pass
            except (*Unreachable, TimeoutError):
                self.ledger.cut_off += 1
            await asyncio.sleep(_PAUSE_S)
        if conversation_id is not None:
            await self._say_goodbye(way, f"{name} farewell", conversation_id)

    async def _say_goodbye(self, way: Any, question: str, conversation_id: str) -> None:
        """Nobody kills the server any more, so this is answered."""
        self.ledger.asked.add(question)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await way(question, conversation_id)
        except (*Unreachable, TimeoutError) as error:
            self.ledger.refused.append((question, repr(error)))

    async def _reply(self, question: str, conversation_id: str | None) -> str | None:
        body = {"message": question, "conversation_id": conversation_id}
        status, answer = await self._shop.call("POST", self._shop.chat, body)
        if status != 200:
            self.ledger.refused.append((status, answer))
            return conversation_id
        told = Told(answer["conversation_id"], question, answer["message"]["content"])
        self.ledger.replies[answer["message"]["id"]] = told
        return told.conversation_id

    async def _stream(self, question: str, conversation_id: str | None) -> str | None:
        client = await StreamClient(self._shop, question, conversation_id=conversation_id).open()
        try:
            await client.to_end()
        finally:
            client.drop(with_reset=False)
        if b"event: message_stop" not in client.got:
            if client.got and (not client.got.startswith(b"HTTP/1.1 200") or b"event: error" in client.got):
                self.ledger.refused.append(client.got[-300:])
            raise HalfAnswer
        told = Told(client.ids["conversation_id"], question, client.text)
        self.ledger.replies[client.ids["message_id"]] = told
        return told.conversation_id

    async def _accept(self, question: str, conversation_id: str | None) -> str | None:
        body = {"message": question, "conversation_id": conversation_id}
        status, answer = await self._shop.call("POST", f"{self._shop.chat}/async", body)
        if status != 202:
            self.ledger.refused.append((status, answer))
            return conversation_id
        self.ledger.jobs[answer["job_id"]] = question
        await asyncio.sleep(0.1)
        return answer["conversation_id"]
