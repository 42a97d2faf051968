"""Tool calls, reasons and counts as models and servers get them wrong; the turn always goes on."""

import json

import pytest

from retinue.adapters.llm import ChatRequest, ModelMessage, ModelUsage, ReplyFinished
from tests.adapters import llm_as_anthropic as anthropic
from tests.adapters import llm_as_openai as openai
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import refusing, serve_and_connect, streaming, user

DONE = b"data: [DONE]\n\n"
BOTH = pytest.mark.parametrize("kind", ["openai_compatible", "anthropic"])
BROKEN = ["{city", '["Ulm"]', '"Ulm"', "7", "null", "{'city': 'Ulm'}", '{"a":NaN}', "{" * 5000, "x" * 5000]


def chunk(finish: str | None = None, **delta) -> bytes:
    return openai.event({"choices": [{"delta": delta, "finish_reason": finish}]})


async def reply_of(provider, request=None):
    *_, last = [delta async for delta in provider.stream(request or user("Hi"))]
    assert isinstance(last, ReplyFinished)
    return last.reply


@BOTH
@pytest.mark.parametrize("raw", BROKEN, ids=range(len(BROKEN)))
async def test_arguments_that_are_no_json_object_are_told_to_the_model_and_the_turn_goes_on(kind, raw):
    async with serve_and_connect(kind) as (server, provider):
        call = Call("get_weather", raw)
        server.says("", call, Call("get_weather", '{"city":"Ulm"}'))
        request = user("Weather?", model="m")
        reply = await reply_of(provider, request)
        broken, good = reply.tool_calls
        assert (broken.arguments, broken.raw_arguments) == (None, raw)
        assert broken.error.startswith("The arguments are not a JSON object: ")
        assert len(broken.error) < 300
        assert (good.arguments, good.error) == ({"city": "Ulm"}, None)
        results = [
            ModelMessage(
                role="tool", tool_call_id=call.id, content=call.error or "sun", is_error=bool(call.error)
            )
            for call in reply.tool_calls
        ]
        following = ChatRequest(model="m", messages=(*request.messages, reply.message(), *results))
        assert (await provider.chat(following)).finish_reason == "stop"


@BOTH
@pytest.mark.parametrize("is_streamed", [True, False])
async def test_calls_with_the_same_id_or_none_can_be_told_apart(kind, is_streamed):
    async with serve_and_connect(kind) as (server, provider):
        server.says("", Call("a", id="call_1"), Call("b", id="call_1"), Call("c", id=""), Call("d", id=""))
        request = user("x", model="m")
        reply = await reply_of(provider, request) if is_streamed else await provider.chat(request)
        assert [call.name for call in reply.tool_calls] == ["a", "b", "c", "d"]
        assert reply.tool_calls[0].id == "call_1"
        assert len({call.id for call in reply.tool_calls}) == 4
        results = [ModelMessage(role="tool", tool_call_id=call.id, content="ok") for call in reply.tool_calls]
        following = ChatRequest(model="m", messages=(*request.messages, reply.message(), *results))
        assert (await provider.chat(following)).finish_reason == "stop"


def part(name=None, arguments=None, **rest):
    function = {"name": name, "arguments": arguments}
    return {**rest, "function": {key: value for key, value in function.items() if value is not None}}


@pytest.mark.parametrize(
    "deltas",
    [
        [[part("a", "", index=0, id="1"), part("b", "", index=1, id="2")],
         [part(arguments='{"x"', index=1), part(arguments='{"x"', index=0)],
         [part(arguments=":1}", index=0), part(arguments=":1}", index=1)]],
        [[part("a", '{"x":1}', index=0, id="1")], [part("b", '{"x":1}', index=0, id="2")]],
        [[part("a", '{"x":1}', id="1"), part("b", '{"x":1}', id="2")]],
        [[part("a", '{"x"', id="1")], [part(arguments=":1}")], [part("b", '{"x":1}', id="2")]],
        [[part("a", '{"x":1}')], [part("b", '{"x":1}')]],
        [[part("a", {"x": 1}, index=0, id="1"), part("b", {"x": 1}, index=1, id="2")]],
        [[part("a", '{"x"', index=0, id="1")],
         [part("a", ":1}", index=0, id="1"), part("b", '{"x":1}', index=9)]],
        [[part("a", '{"x":1}', index=0, id=None)], [part("b", '{"x":1}', index=1, id=None)], None],
    ],
    ids=["interleaved", "one index", "no index", "pieces", "names only", "objects", "repeated", "null ids"],
)  # fmt: skip
async def test_calls_are_put_together_from_every_kind_of_fragments(deltas):
    async with serve_and_connect() as (server, provider):
        server.fails(streaming(*(chunk(tool_calls=calls) for calls in deltas), chunk("tool_calls"), DONE))
        reply = await reply_of(provider)
        assert [(call.name, call.arguments) for call in reply.tool_calls] == [
            ("a", {"x": 1}),
            ("b", {"x": 1}),
        ]
        assert reply.finish_reason == "tool_calls"


async def test_a_call_that_names_no_tool_is_told_to_the_model():
    async with serve_and_connect() as (server, provider):
        server.fails(streaming(chunk(tool_calls=[{"index": 0, "id": "1"}]), chunk("tool_calls"), DONE))
        (call,) = (await reply_of(provider)).tool_calls
        assert (call.name, call.arguments, call.error) == ("", None, "The call does not name a tool.")


async def test_a_call_that_the_limit_cut_off_is_an_error_and_the_limit_is_told():
    async with serve_and_connect() as (server, provider):
        server.says("", Call("a", '{"city": "U'), finish="length")
        reply = await provider.chat(user("x"))
        assert (reply.finish_reason, reply.tool_calls[0].arguments) == ("length", None)


@pytest.mark.parametrize(
    ("said", "calls", "meant"),
    [
        ("stop", (Call("a"),), "tool_calls"),
        ("tool_calls", (), "stop"),
        ("function_call", (Call("a"),), "tool_calls"),
        ("length", (), "length"),
        ("model_length", (), "length"),
        ("content_filter", (), "content_filter"),
        ("eos", (), "stop"),
    ],
)
async def test_each_reason_to_stop_is_told_in_our_words(said, calls, meant):
    async with serve_and_connect() as (server, provider):
        for _ in range(2):
            server.says("Hm", *calls, finish=said)
        assert (await provider.chat(user("x"))).finish_reason == meant
        assert (await reply_of(provider)).finish_reason == meant


@pytest.mark.parametrize(
    ("reported", "meant"),
    [
        ({"prompt_tokens": -5, "completion_tokens": -1}, ModelUsage(0, 0)),
        ({"prompt_tokens": 10**400, "completion_tokens": 7}, ModelUsage(2**31 - 1, 7)),
        ({"prompt_tokens": 3.0, "completion_tokens": "7"}, ModelUsage(3, 0)),
        ({"prompt_tokens": None, "completion_tokens": True}, ModelUsage(0, 0)),
        ({"completion_tokens": 4, "prompt_tokens_details": None}, ModelUsage(0, 4)),
        ({"prompt_tokens": 4, "prompt_tokens_details": {"cached_tokens": -1}}, ModelUsage(4, 0)),
        ([1, 2], None),
        ("many", None),
        (5, None),
    ],
)
async def test_counts_are_not_taken_on_trust(reported, meant):
    async with serve_and_connect() as (server, provider):
        choice = {"message": {"content": "Hi"}, "finish_reason": "stop"}
        raw = json.dumps({"choices": [choice], "usage": reported}).encode()
        server.fails(
            refusing(200, raw), streaming(chunk("stop", content="Hi"), b"data: " + raw + b"\n\n", DONE)
        )
        assert (await provider.chat(user("x"))).usage == meant
        assert (await reply_of(provider)).usage == meant


async def test_negative_counts_of_anthropic_are_nothing():
    async with serve_and_connect("anthropic") as (server, provider):
        server.says("Hi", usage={"input_tokens": -9, "cache_read_input_tokens": None, "output_tokens": -3})
        assert (await provider.chat(user("x"))).usage == ModelUsage(3, 0, cache_write_tokens=3)


async def test_text_in_parts_and_refusals_are_text():
    parts = [
        {"type": "thinking", "thinking": []},
        {"type": "text", "text": "Hel"},
        {"type": "text", "text": "lo"},
    ]
    async with serve_and_connect() as (server, provider):
        server.fails(
            streaming(chunk(content=parts), chunk("stop"), DONE),
            streaming(chunk(refusal="I will not."), chunk("stop"), DONE),
        )
        assert (await reply_of(provider)).text == "Hello"
        assert (await reply_of(provider)).text == "I will not."


async def test_blocks_and_events_nobody_knows_are_passed_over():
    async with serve_and_connect("anthropic") as (server, provider):
        server.fails(
            streaming(
                anthropic.event("message_start", message={"content": []}),
                anthropic.event("news", anything=[1]),
                anthropic.event(
                    "content_block_start", index=0, content_block={"type": "hologram", "text": "?"}
                ),
                anthropic.event("content_block_delta", index=0, delta={"type": "text_delta", "text": "?"}),
                anthropic.event("content_block_delta", index=5, delta={"type": "text_delta", "text": "?"}),
                anthropic.event(
                    "content_block_start", index=1, content_block={"type": "text", "text": "Hel"}
                ),
                anthropic.event("content_block_delta", index=1, delta={"type": "text_delta", "text": "lo"}),
                anthropic.event(
                    "message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2}
                ),
                anthropic.event("message_stop"),
            )
        )
        assert (await reply_of(provider)).text == "Hello"
