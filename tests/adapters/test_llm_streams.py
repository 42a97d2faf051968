"""Streams as they really come: cut anywhere, framed oddly, broken off, never ending, left early."""

import asyncio
import tracemalloc
from contextlib import aclosing, suppress

import pytest

from retinue.adapters.llm import ModelError, ModelTimeout, ReplyFinished, TextDelta
from tests.adapters import llm_as_anthropic as anthropic
from tests.adapters import llm_as_openai as openai
from tests.adapters.llm_server import (
    STREAM_HEAD,
    chunked,
    flooding,
    hanging,
    refusing,
    resetting,
    serve_and_connect,
    streaming,
    user,
)

BOTH = pytest.mark.parametrize("kind", ["openai_compatible", "anthropic"])
DONE = b"data: [DONE]\n\n"


def says(text: str, finish: str | None = None, **fields) -> bytes:
    return openai.event({"choices": [{"delta": {"content": text}, "finish_reason": finish}], **fields})


def first_events(text: str) -> bytes:
    return (
        anthropic.event("message_start", message={"content": [], "usage": {"input_tokens": 1}})
        + anthropic.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        + anthropic.event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
    )


BEGUN = {"openai_compatible": says("Hel") + says("lo"), "anthropic": first_events("Hello")}
ADDED = {
    "openai_compatible": says(" more"),
    "anthropic": anthropic.event(
        "content_block_delta", index=0, delta={"type": "text_delta", "text": " more"}
    ),
}
FINISHED = {
    "openai_compatible": says("!", "stop"),
    "anthropic": anthropic.event("message_delta", delta={"stop_reason": "end_turn"}),
}
OVER = {"openai_compatible": DONE, "anthropic": anthropic.event("message_stop")}
WHOLE = {
    "openai_compatible": {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]},
    "anthropic": {"content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"},
}


async def read_stream(provider) -> tuple[str, ReplyFinished | ModelError]:
    """Read a stream; return its text and its end."""
    text = ""
    try:
        async for delta in provider.stream(user("Hi")):
            match delta:
                case TextDelta(piece):
                    text += piece
                case ReplyFinished():
                    return text, delta
    except ModelError as error:
        return text, error
    raise AssertionError("a stream ended without an end")


@BOTH
async def test_a_stream_without_its_last_event_is_good_if_the_model_said_why_it_stopped(kind):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(streaming(BEGUN[kind], FINISHED[kind]))
        text, done = await read_stream(provider)
        assert text.startswith("Hello")
        assert (done.reply.text, done.reply.finish_reason) == (text, "stop")


@BOTH
@pytest.mark.parametrize("rest", [b"", b'data: {"cho', b"data: ", b"event: x\n", b": ping\n\n"])
async def test_a_stream_that_breaks_off_is_told_after_its_text(kind, rest):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(streaming(BEGUN[kind], rest) if rest else streaming(BEGUN[kind]))
        text, error = await read_stream(provider)
        assert (text, error.kind, error.retryable) == ("Hello", "broken_stream", True)


@BOTH
@pytest.mark.parametrize("is_finished", [True, False])
async def test_a_reset_in_the_middle_of_a_stream(kind, is_finished):
    async with serve_and_connect(kind) as (server, provider):
        arrived = asyncio.Event()
        sent = BEGUN[kind] + (FINISHED[kind] if is_finished else b"")
        server.fails(resetting(STREAM_HEAD + chunked(sent), arrived))
        text, error, done = "", None, None
        try:
            async for delta in provider.stream(user("Hi")):
                text += delta.text if isinstance(delta, TextDelta) else ""
                done = delta if isinstance(delta, ReplyFinished) else None
                arrived.set()
        except ModelError as raised:
            error = raised
        assert text.startswith("Hello")
        assert (done is not None) == is_finished
        assert is_finished or (error.kind, error.retryable) == ("broken_stream", True)


@BOTH
@pytest.mark.parametrize("begun", [b"", STREAM_HEAD, "text"])
async def test_a_stream_that_stalls_is_a_timeout(kind, begun):
    async with serve_and_connect(kind, first_byte_s=0.5, between_chunks_s=0.5) as (server, provider):
        raw = STREAM_HEAD + chunked(BEGUN[kind]) if begun == "text" else begun
        server.fails(hanging(raw))
        async with asyncio.timeout(5):
            text, error = await read_stream(provider)
            await server.hung_up.wait()
        assert isinstance(error, ModelTimeout)
        assert text == ("Hello" if begun == "text" else "")


@BOTH
async def test_pings_do_not_keep_a_stream_alive_for_ever(kind):
    async with serve_and_connect(kind, total_s=0.2) as (server, provider):
        server.fails(flooding(b": ping\n\n" * 1000, 1_000_000_000))
        async with asyncio.timeout(5):
            _, error = await read_stream(provider)
        assert error.kind in {"timeout", "bad_answer"}


@BOTH
@pytest.mark.parametrize("ending", ["finished", "over"])
async def test_a_server_that_does_not_hang_up_after_the_end_costs_little(kind, ending):
    async with serve_and_connect(kind, between_chunks_s=0.2) as (server, provider):
        sent = BEGUN[kind] + FINISHED[kind] + (OVER[kind] if ending == "over" else b"")
        server.fails(hanging(STREAM_HEAD + chunked(sent)))
        async with asyncio.timeout(2):
            _, done = await read_stream(provider)
        assert done.reply.finish_reason == "stop"


@BOTH
async def test_what_follows_the_end_is_not_read(kind):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(streaming(BEGUN[kind] + FINISHED[kind] + OVER[kind] + b"data: garbage\n\n" + DONE))
        assert (await read_stream(provider))[1].reply.finish_reason == "stop"


@BOTH
@pytest.mark.parametrize(
    "reframed",
    [
        lambda raw: raw.replace(b"data: ", b"data:"),
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: raw.replace(b"\n", b"\r"),
        lambda raw: b": hello\n\n" + raw.replace(b"\n\n", b"\n\n: ping\n\n:\n\n"),
        lambda raw: raw.replace(b"data: ", b"id: 7\nretry: 5\nunknown\nevent: x\ndata: "),
        lambda raw: raw.replace(b'data: {"', b'data: {\ndata:\ndata: "'),
        lambda raw: b"\n\n\n" + raw.replace(b"\n\n", b"\n\n\n\n"),
    ],
    ids=["no space", "CRLF", "CR", "comments", "other fields", "several lines", "blank lines"],
)
@pytest.mark.parametrize("in_bytes", [True, False])
async def test_every_framing_the_standard_allows_is_read(kind, reframed, in_bytes):
    async with serve_and_connect(kind) as (server, provider):
        raw = reframed(BEGUN[kind] + FINISHED[kind] + OVER[kind])
        server.fails(streaming(*[bytes([byte]) for byte in raw] if in_bytes else [raw]))
        text, done = await read_stream(provider)
        assert text.startswith("Hello")
        assert done.reply.text == text


@BOTH
@pytest.mark.parametrize("piece", [b"x" * 65536, b"data: " + b"x" * 65530, b"data: x\n" * 8192])
async def test_an_event_without_end_is_cut_off(kind, piece):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(flooding(piece, 10 * 1024 * 1024))
        tracemalloc.start()
        _, error = await read_stream(provider)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (error.kind, peak < 8 * 1024 * 1024) == ("bad_answer", True)
        await server.hung_up.wait()


@BOTH
@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'"x"', b"7", b"null", b'{"choices": 5}', b"\xff", b"[" * 99_999]
)
async def test_an_event_that_is_nonsense_is_told_after_the_text_before_it(kind, data):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(streaming(BEGUN[kind], b"data: " + data + b"\n\n"))
        text, error = await read_stream(provider)
        assert (text, error.kind) == ("Hello", "bad_answer")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, "overloaded"),
        ({"type": "api_error", "message": "Internal"}, "overloaded"),
        ({"type": "rate_limit_error", "message": "Slow"}, "rate_limited"),
        ({"type": "tokens", "code": "rate_limit_exceeded"}, "rate_limited"),
        ({"code": "insufficient_quota", "type": "insufficient_quota"}, "quota"),
        ({"type": "server_error", "code": "model_not_found"}, "invalid_request"),
        ({"type": "authentication_error"}, "auth"),
        ({"code": 401, "message": "No"}, "auth"),
        ({"code": 502, "message": "Provider error"}, "overloaded"),
        ({"code": 429}, "rate_limited"),
        ({"type": "invalid_request_error", "message": "Too long"}, "invalid_request"),
        ({"type": "BadRequestError", "code": 400}, "invalid_request"),
        ({"type": "timeout_error"}, "timeout"),
        ({"code": 10**30, "type": ["?"], "message": {"a": 1}}, "overloaded"),
        ("Just a text", "overloaded"),
        (["?"], "overloaded"),
    ],
)
@BOTH
async def test_an_error_inside_a_stream_has_its_meaning(kind, said, meant):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(streaming(BEGUN[kind], anthropic.event("error", error=said)))
        text, error = await read_stream(provider)
        assert (text, error.kind) == ("Hello", meant)


@BOTH
async def test_a_server_that_does_not_stream_when_asked_to_is_understood(kind):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(refusing(200, WHOLE[kind], Content_Type="application/json; charset=utf-8"))
        text, done = await read_stream(provider)
        assert (text, done.reply.text, done.reply.finish_reason) == ("Hello", "Hello", "stop")


async def test_a_stream_may_end_without_a_reason():
    async with serve_and_connect() as (server, provider):
        server.fails(
            streaming(says("Hello"), DONE), streaming(DONE), streaming(openai.event({"choices": []}), DONE)
        )
        text, done = await read_stream(provider)
        assert (text, done.reply.finish_reason, done.reply.usage) == ("Hello", "stop", None)
        for _ in range(2):
            assert (await read_stream(provider))[1].kind == "bad_answer"


async def leave_at_once(provider):
    async for delta in provider.stream(user("Hi")):
        assert delta.text
        break


async def close(provider):
    async with aclosing(provider.stream(user("Hi"))) as deltas:
        assert (await anext(deltas)).text


async def cancel_stream(provider):
    begun = asyncio.Event()

    async def listen():
        async for _ in provider.stream(user("Hi")):
            begun.set()

    task = asyncio.create_task(listen())
    await begun.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def run_out_of_time(provider):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await read_stream(provider)


@BOTH
@pytest.mark.parametrize("leave", [leave_at_once, close, cancel_stream, run_out_of_time])
async def test_leaving_a_stream_hangs_up(kind, leave):
    async with serve_and_connect(kind) as (server, provider):
        server.fails(hanging(STREAM_HEAD + chunked(BEGUN[kind])))
        await leave(provider)
        async with asyncio.timeout(1):
            await server.hung_up.wait()


async def test_leaving_speech_hangs_up():
    async with serve_and_connect() as (server, provider):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nTransfer-Encoding: chunked\r\n\r\n"
        server.fails(hanging(head + chunked(b"sound")))
        async with aclosing(provider.speak("m", "Hi", voice="v")) as sound:
            assert await anext(sound) == b"sound"
        async with asyncio.timeout(1):
            await server.hung_up.wait()


@BOTH
async def test_words_that_come_fast_are_told_together_and_before_the_error_that_follows_them(kind):
    said = ADDED[kind]

    async def hurry(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunked(BEGUN[kind]))
        await writer.drain()
        await asyncio.sleep(0.004)
        failing = anthropic.event("error", error={"type": "overloaded_error"})
        writer.write(chunked(said + said + said + failing))
        await writer.drain()

    async with serve_and_connect(kind) as (server, provider):
        server.fails(hurry)
        deltas: list[str] = []

        async def listen() -> None:
            async for delta in provider.stream(user("Hi")):
                deltas.append(delta.text)  # noqa: PERF401  it ends with an error

        with pytest.raises(ModelError) as raised:
            await listen()
        assert "".join(deltas) == "Hello" + " more" * 3
        assert deltas[-1] == " more" * 3
        assert raised.value.kind == "overloaded"
