"""Chat as the bare application does it: the question is stored, the provider asked, the reply stored."""

from datetime import UTC, datetime
from typing import Any

import aiohttp
import msgspec

from retinue.kit.ids import new_id

KEY = "sk-bench-0123456789"
_HEADERS = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
_PROMPT = {"role": "system", "content": "You are a friendly assistant. Answer briefly."}
_encode = msgspec.json.Encoder().encode


class _Question(msgspec.Struct):
    message: str
    model: str = "words"


class _Delta(msgspec.Struct, frozen=True):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta = _Delta()
    message: _Delta = _Delta()


class _Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int


class _Chunk(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


_read_question = msgspec.json.Decoder(_Question).decode
_read_chunk = msgspec.json.Decoder(_Chunk).decode


class BareChat:
    def __init__(self, store: Any, session: aiohttp.ClientSession, provider: str) -> None:
        self._store = store
        self._session = session
        self._url = f"{provider}/chat/completions"

    async def answer(self, receive: Any) -> dict[str, Any]:
        question = await self._question(receive)
        async with self._ask(question, is_streaming=False) as response:
            chunk = _read_chunk(await response.read())
        text = chunk.choices[0].message.content or ""
        id = await self._keep("assistant", text)
        return {"message_id": id, "content": text, "usage": chunk.usage}

    async def stream(self, receive: Any, send: Any) -> None:
        question = await self._question(receive)
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        text, number, usage = "", 0, None
        async with self._ask(question, is_streaming=True) as response:
            async for line in response.content:
                if not line.startswith(b"data: ") or line == b"data: [DONE]\n":
                    continue
                chunk = _read_chunk(line[6:])
                usage = chunk.usage or usage
                for choice in chunk.choices:
                    if choice.delta.content:
                        number += 1
                        text += choice.delta.content
                        await _send_event(send, b"content_delta", number, choice.delta)
        await self._keep("assistant", text)
        await _send_event(send, b"message_stop", number + 1, usage)
        await send({"type": "http.response.body", "body": b""})

    async def _question(self, receive: Any) -> _Question:
        question = _read_question((await receive())["body"])
        await self._keep("user", question.message)
        return question

    async def _keep(self, role: str, text: str) -> str:
        id = new_id("msg")
        await self._store.write(id, "ten_bench", role, text, datetime.now(UTC).isoformat())
        return id

    def _ask(self, question: _Question, *, is_streaming: bool) -> Any:
        messages = [_PROMPT, {"role": "user", "content": question.message}]
        body = _encode({"model": question.model, "messages": messages, "stream": is_streaming})
        return self._session.post(self._url, data=body, headers=_HEADERS)


async def _send_event(send: Any, name: bytes, number: int, value: Any) -> None:
    event = b"event: %b\nid: %d\ndata: %b\n\n" % (name, number, _encode(value))
    await send({"type": "http.response.body", "body": event, "more_body": True})
