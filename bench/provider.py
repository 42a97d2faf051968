"""The model provider everyone asks: OpenAI's chat format from prebuilt bytes, so it is never what waits.

python -m bench.provider PORT

What it does is in the model's name: `words` says its words one by one (or all at once where no stream is
asked for), `twenty` says twenty of them, `slow` takes its time between them, and `silent` says one word and
then nothing more.
"""

import asyncio
import sys
from typing import Any

import msgspec
import uvloop

CHUNKS = 50
WORDS = [f" word{number}" for number in range(CHUNKS)]
PIECES = {"twenty": 20}
# Each word is sent alone.
PAUSES_S = {"words": 0.001, "twenty": 0.001, "steady": 0.02, "slow": 0.7, "silent": 0.0}


def _event(**fields: object) -> bytes:
    chunk = {
        "id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1700000000,
        "model": "words", "system_fingerprint": "fp_bench", **fields,
    }  # fmt: skip
    event = b"data: " + msgspec.json.encode(chunk) + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(event), event)


def _choice(delta: dict[str, str], finish_reason: str | None = None) -> list[dict[str, object]]:
    return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}]


USAGE = {"prompt_tokens": 9, "completion_tokens": CHUNKS, "total_tokens": CHUNKS + 9}
_WORD_EVENTS = [_event(choices=_choice({"content": word}), usage=None) for word in WORDS]
_END = (
    _event(choices=_choice({}, "stop"), usage=None)
    + _event(choices=[], usage=USAGE)
    + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
)
_STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def _answer(value: object) -> bytes:
    body = msgspec.json.encode(value)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


_WHOLE = _answer(
    {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "words",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "".join(WORDS)},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": USAGE,
    }
)
_MODELS = _answer({"object": "list", "data": [{"id": name, "object": "model"} for name in PAUSES_S]})


class _Asked(msgspec.Struct):
    model: str
    stream: bool = False


_decode = msgspec.json.Decoder(_Asked).decode


class Provider(asyncio.Protocol):
    """One kept-alive connection."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._buffer = b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_lost(self, _error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, blank, body = self._buffer.partition(b"\r\n\r\n")
        if not blank:
            return
        length = head.lower().partition(b"\r\ncontent-length: ")[2].partition(b"\r\n")[0]
        if len(body) < int(length or 0):
            return
        self._buffer = b""
        if head.startswith(b"GET "):
            self._transport.write(_MODELS)
            return
        asked = _decode(body)
        if asked.stream:
            self._transport.write(_STREAM_HEAD)
            self._say(0, asked.model)
        else:
            self._transport.write(_WHOLE)

    def _say(self, number: int, model: str) -> None:
        if number == PIECES.get(model, CHUNKS):
            self._transport.write(_END)
            return
        self._transport.write(_WORD_EVENTS[number])
        if model == "silent":
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(PAUSES_S.get(model, PAUSES_S["words"]), self._say, number + 1, model)


async def serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Provider, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(int(sys.argv[1])))
