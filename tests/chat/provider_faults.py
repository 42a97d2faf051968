"""Faults of a provider, as a whole answer and as a stream, and the error that a client gets."""

import asyncio
from dataclasses import dataclass

import msgspec

from tests.adapters.llm_server import (
    STREAM_HEAD,
    Fault,
    chunked,
    hanging,
    refusing,
    resetting,
    sending,
    streaming,
)
from tests.e2e.chatting import piece

MB = 1024 * 1024
HTML = b"<!doctype html><html><body>502 Bad Gateway</body></html>"


def whole(content: bytes, *, length: int | None = None, kind: str = "application/json") -> bytes:
    """Return an answer in one piece; `length` overrides its Content-Length."""
    size = len(content) if length is None else length
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
    return head.encode() + content


def completion_body(text: str, **more: object) -> bytes:
    """Return a completion with this text."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return msgspec.json.encode({"model": "test-model", "choices": [choice], **more})


def delta(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return b"data: " + msgspec.json.encode({"choices": [choice]}) + b"\n\n"


def unfinished_stream(*pieces: bytes) -> bytes:
    """Return a stream with these pieces, without its end."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + b"".join(pieces)


@dataclass(frozen=True)
class Case:
    """`code` is None where the reply is as good as any; `heard` is what a stream's client got before."""

    whole: Fault
    streamed: Fault
    code: str | None = "model_error"
    status: int = 502
    requests: int = 1
    stream_requests: int = 1
    heard: str = ""
    text: str = ""

    @property
    def is_silent(self) -> bool:
        return self.code == "model_timeout"


def refusal_case(status: int, requests: int = 3, **headers: str) -> Case:
    fault = refusing(status, {"error": {"message": "no"}}, **headers)
    return Case(fault, fault, requests=requests, stream_requests=requests)


def garbled_case(content: bytes, stream: bytes | None = None) -> Case:
    """Return a case whose answer breaks the protocol; asking again would not help."""
    return Case(
        sending(whole(content)), streaming(*([content] if stream is None else [stream] if stream else []))
    )


FAULTS = {
    "429": refusal_case(429),
    "429 with a pause": refusal_case(429, Retry_After="0"),
    "429 with a pause of 30 years": refusal_case(429, requests=1, Retry_After="1000000000"),
    "500": refusal_case(500),
    "502": refusal_case(502),
    "503": refusal_case(503),
    "504": refusal_case(504),
    "a reset before anything": Case(resetting(), resetting(), requests=3, stream_requests=3),
    "a reset after a token": Case(
        resetting(whole(completion_body("One "), length=5000)),
        resetting(unfinished_stream(delta("One "))),
        requests=3,
        heard="One ",
    ),
    "silence": Case(hanging(), hanging(), code="model_timeout", status=504),
    "silence after a token": Case(
        hanging(whole(completion_body("One "), length=5000)),
        hanging(unfinished_stream(delta("One "))),
        code="model_timeout",
        status=504,
        heard="One ",
    ),
    "HTML": Case(sending(whole(HTML, kind="text/html")), sending(whole(HTML, kind="text/html"))),
    "HTML as JSON": Case(sending(whole(HTML)), sending(whole(HTML))),
    "no JSON": garbled_case(b'{"choices": [', b'data: {"choices": [}\n\n'),
    "JSON of another shape": garbled_case(b'{"choices": {"a": 1}}', b'data: {"choices": {"a": 1}}\n\n'),
    "levels without end": garbled_case(b"[" * 100_000, b"data: " + b"[" * 100_000 + b"\n\n"),
    "no choices": garbled_case(b'{"choices": []}', b'data: {"choices": []}\n\ndata: [DONE]\n\n'),
    "null": garbled_case(b"null", b"data: null\n\ndata: [DONE]\n\n"),
    "nothing": garbled_case(b"", b""),
    "half a surrogate": garbled_case(
        b'{"choices": [{"message": {"content": "\\ud800"}}]}',
        b'data: {"choices": [{"delta": {"content": "\\ud800"}}]}\n\ndata: [DONE]\n\n',
    ),
    "bytes that are no text": garbled_case(
        b'{"choices": [{"message": {"content": "\xff\xfe"}}]}',
        b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\ndata: [DONE]\n\n',
    ),
    "a stream cut in an event": Case(
        sending(whole(completion_body("One ")[:-5])),
        streaming(delta("One "), delta("two")[:-9]),
        heard="One ",
    ),
    "a stream that never ends": Case(
        sending(whole(completion_body("One ")[:-1])), streaming(delta("One ")), heard="One "
    ),
    "a line of 10 MB": Case(
        sending(whole(b" " * 40 * MB)), streaming(delta("One "), delta("x" * 10 * MB)), heard="One "
    ),
    "an error in the middle": Case(
        sending(whole(b'{"error": {"message": "no", "type": "invalid_request_error"}}')),
        streaming(delta("One "), b'data: {"error": {"message": "no", "type": "invalid_request_error"}}\n\n'),
        heard="One ",
    ),
    "no [DONE]": Case(
        sending(whole(completion_body("All."))),
        streaming(delta("Al"), delta("l.", "stop")),
        code=None,
        text="All.",
    ),
    "negative usage": Case(
        sending(whole(completion_body("All.", usage={"prompt_tokens": -5, "completion_tokens": -(10**30)}))),
        streaming(
            delta("All.", "stop"),
            b'data: {"choices": [], "usage": {"prompt_tokens": -5, "completion_tokens": "x"}}\n\n',
            b"data: [DONE]\n\n",
        ),
        code=None,
        text="All.",
    ),
    "NUL in the text": Case(
        sending(whole(completion_body("A\0l\0l."))),
        streaming(delta("A\0"), delta("\0"), delta("l\0l."), b"data: [DONE]\n\n"),
        code=None,
        text="All.",
    ),
    "no text at all": Case(
        sending(whole(completion_body(""))), streaming(delta("", "stop"), b"data: [DONE]\n\n"), code=None
    ),
}


def slowly(more: asyncio.Event) -> Fault:
    """Says the beginning of a reply, and the rest of it when it is told to."""

    async def fault(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunked(piece("It ")))
        await writer.drain()
        await more.wait()
        writer.write(chunked(piece("rains.", "stop") + b"data: [DONE]\n\n") + chunked(b""))
        await writer.drain()

    return fault
