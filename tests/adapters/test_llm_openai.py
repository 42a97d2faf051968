"""The OpenAI adapter against a local server that speaks its wire format."""

import pytest

from retinue.adapters.llm import (
    Audio,
    ChatRequest,
    ModelError,
    ModelInfo,
    ModelMessage,
    ModelUsage,
    ProviderAccess,
    ReplyFinished,
    TextDelta,
    ToolCall,
    ToolSpec,
    provider_for,
)
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress
from retinue.kit.secrets import Secret
from retinue.kit.settings import LOOPBACK
from tests.adapters.llm_replies import Call
from tests.adapters.llm_requests import GREETING, PERSON, with_every_option
from tests.adapters.llm_server import KEY, at_once, in_bytes, provider_server, serve_and_connect, user

WEATHER = ToolSpec("get_weather", "The weather at a place", {"type": "object", "properties": {"city": {}}})


async def test_a_reply_has_text_usage_and_the_model_that_answered():
    async with serve_and_connect() as (server, provider):
        reply = await provider.chat(user("Hello"))
        assert (reply.text, reply.finish_reason, reply.tool_calls) == ("You said: Hello", "stop", ())
        assert reply.usage == ModelUsage(prompt_tokens=9, completion_tokens=3, cached_tokens=2)
        assert reply.model == "gpt-4o-mini-2024-07-18"
        assert server.last.json == {
            "model": "gpt-4o-mini",
            "messages": [{"role": "user", "content": "Hello"}],
        }
        assert server.last.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("cut", [list, in_bytes, at_once], ids=["by event", "by byte", "at once"])
async def test_a_streamed_reply_is_the_same_however_its_bytes_arrive(cut):
    async with serve_and_connect() as (server, provider):
        server.cut = cut
        server.says(GREETING)
        *deltas, done = [delta async for delta in provider.stream(user("Hello"))]
        assert all(isinstance(delta, TextDelta) for delta in deltas)
        assert len(deltas) > 1
        assert "".join(delta.text for delta in deltas) == GREETING
        assert isinstance(done, ReplyFinished)
        assert (done.reply.text, done.reply.finish_reason) == (GREETING, "stop")
        assert done.reply.usage.prompt_tokens == 9
        assert server.last.json["stream_options"] == {"include_usage": True}


async def test_streams_one_after_another_share_a_connection():
    async with serve_and_connect() as (server, provider):
        for _ in range(3):
            assert [delta async for delta in provider.stream(user("Hello"))]
        assert await provider.chat(user("Hello"))
        assert server.connections == 1


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_parallel_tool_calls_go_there_and_their_results_back(is_streamed):
    async with serve_and_connect() as (server, provider):
        server.says(
            "Let me see.", Call("get_weather", '{"city": "Köln"}'), Call("get_weather", '{"city":"Ulm"}')
        )
        request = user("Weather?", tools=(WEATHER,))
        if is_streamed:
            *_, first, second, done = [delta async for delta in provider.stream(request)]
            assert (first, second) == done.reply.tool_calls
            reply = done.reply
        else:
            reply = await provider.chat(request)
        assert reply.finish_reason == "tool_calls"
        assert [call.arguments for call in reply.tool_calls] == [{"city": "Köln"}, {"city": "Ulm"}]
        assert len({call.id for call in reply.tool_calls}) == 2
        results = [
            ModelMessage(role="tool", tool_call_id=call.id, content=f"{call.arguments['city']}: sun")
            for call in reply.tool_calls
        ]
        following = ChatRequest(
            model="gpt-4o-mini", messages=(*request.messages, reply.message(), *results), tools=(WEATHER,)
        )
        assert (await provider.chat(following)).text == "You said: Ulm: sun"
        sent = server.last.json
        assert sent["messages"][1]["content"] == "Let me see."
        assert sent["tools"] == [
            {
                "type": "function",
                "function": {
                    "name": WEATHER.name,
                    "description": WEATHER.description,
                    "parameters": WEATHER.input_schema,
                },
            }
        ]


async def test_every_option_reaches_the_wire():
    async with serve_and_connect("openai") as (server, provider):
        await provider.chat(with_every_option("gpt-4o", WEATHER, 0.2, texts=("Look",)))
        sent = server.last.json
        assert sent["messages"][1]["content"] == [
            {"type": "text", "text": "Look"},
            {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAA"}},
        ]
        assert sent["tool_choice"] == {"type": "function", "function": {"name": "get_weather"}}
        assert (sent["temperature"], sent["top_p"], sent["stop"]) == (0.2, 0.9, ["END"])
        assert (sent["max_completion_tokens"], "max_tokens" in sent) == (50, False)
        assert sent["response_format"] == {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": PERSON, "strict": True},
        }


@pytest.mark.parametrize(("given", "sent"), [("none", "none"), ("required", "required"), ("auto", None)])
async def test_the_tool_choice_is_sent_where_it_is_no_default(given, sent):
    async with serve_and_connect() as (server, provider):
        await provider.chat(user("x", tools=(WEATHER,), tool_choice=given, response_format="json"))
        assert server.last.json.get("tool_choice") == sent
        assert server.last.json["response_format"] == {"type": "json_object"}
        await provider.chat(user("x", tool_choice=given))
        assert "tool_choice" not in server.last.json


async def test_models_that_refuse_sampling_parameters_are_not_sent_any():
    async with serve_and_connect("openai") as (server, provider):
        for model in ("o4-mini", "gpt-5.4", "gpt-5-mini-2025-08-07"):
            reply = await provider.chat(
                user("x", model=model, temperature=0.5, top_p=1, stop=("a",), max_tokens=9)
            )
            assert reply.text == "You said: x"
        for model in ("gpt-4.1", "gpt-4o", "gpt-35-turbo"):
            await provider.chat(user("x", model=model, temperature=0.5))
            assert server.last.json["temperature"] == 0.5


async def test_mistral_gets_no_field_it_refuses_and_ids_in_its_own_form():
    async with serve_and_connect("mistral") as (_, provider):
        call = ToolCall("toolu_01A09q90qw90lq917835lq9", "get_weather", {}, "{}")
        request = ChatRequest(
            model="mistral-large-latest",
            messages=(
                ModelMessage(role="user", content="Weather?"),
                ModelMessage(role="assistant", tool_calls=(call,)),
                ModelMessage(role="tool", tool_call_id=call.id, content="sun"),
            ),
            max_tokens=100,
        )
        *_, done = [delta async for delta in provider.stream(request)]
        assert done.reply.text == "You said: sun"
        assert done.reply.usage.completion_tokens > 0


@pytest.mark.parametrize("model", ["gemini-3-pro", "deepseek-v4"])
@pytest.mark.parametrize("is_streamed", [True, False])
async def test_what_a_model_wants_back_with_its_calls_is_given_back_to_it_alone(model, is_streamed):
    async with serve_and_connect() as (server, provider):
        server.says("", Call("get_weather", '{"city":"Ulm"}'), reasoning="Where is Ulm?")
        request = user("Weather?", model=model)
        *_, done = (
            [delta async for delta in provider.stream(request)]
            if is_streamed
            else [ReplyFinished(await provider.chat(request))]
        )
        reply = done.reply
        history = (
            *request.messages,
            reply.message(),
            ModelMessage(role="tool", tool_call_id=reply.tool_calls[0].id, content="sun"),
        )
        assert (await provider.chat(ChatRequest(model=model, messages=history))).text == "You said: sun"
        await provider.chat(ChatRequest(model="gpt-4o-mini", messages=history))
        assert "reasoning_content" not in server.last.json["messages"][1]
        assert "extra_content" not in server.last.json["messages"][1]["tool_calls"][0]


async def test_embeddings_come_in_the_order_of_the_texts():
    async with serve_and_connect() as (server, provider):
        made = await provider.embed("text-embedding-3-small", ["a", "four", "to"], dimensions=3)
        assert made.vectors == [[1.0, 0.5, 0.5], [4.0, 0.5, 0.5], [2.0, 0.5, 0.5]]
        assert made.usage.prompt_tokens == 3
        assert server.last.json["encoding_format"] == "float"


async def test_a_recording_is_uploaded_and_transcribed():
    async with serve_and_connect() as (server, provider):
        audio = Audio(bytes(range(256)) * 10, 'a"b\r\nX: y.mp3', "audio/mpeg")
        heard = await provider.transcribe("whisper-1", audio, language="de", prompt="Namen: Jörg")
        assert heard.text == "a_b__X_ y.mp3 has 2560 bytes"
        assert (heard.language, heard.duration_seconds) == ("english", 8.5)
        plain = await provider.transcribe("gpt-4o-transcribe", Audio(b"x", "x.wav", "audio/wav\r\nX: y"))
        assert (plain.text, plain.language, plain.duration_seconds) == ("x.wav has 1 bytes", None, None)
        assert b"\r\nX: y" not in server.last.body


async def test_speech_is_given_as_it_arrives():
    async with serve_and_connect() as (server, provider):
        sound = b"".join(
            [piece async for piece in provider.speak("tts-1", "Hello", voice="alloy", speed=1.5)]
        )
        assert sound == b"mp3:alloy:Hello" * 100
        assert server.last.json["speed"] == 1.5


async def test_models_are_listed_with_what_is_known_of_them():
    async with serve_and_connect("google") as (_, provider):
        listed = await provider.models()
        assert ModelInfo("gpt-4o-mini", "gpt-4o-mini") in listed
        assert ModelInfo("gemini-3-pro", "Gemini 3") in listed
        assert ModelInfo("llama", "llama", 131072) in listed


@pytest.mark.parametrize(
    ("path", "sent", "query"),
    [
        ("", "/openai/deployments/my model/chat/completions", {"api-version": ["2024-10-21"]}),
        ("/openai/", "/openai/deployments/my model/chat/completions", {"api-version": ["2024-10-21"]}),
        ("/openai/v1/", "/openai/v1/chat/completions", {}),
    ],
)
async def test_azure_is_asked_at_its_deployments_with_its_own_header(path, sent, query):
    async with serve_and_connect("azure_openai", path=path) as (server, provider):
        assert (await provider.chat(user("Hi", model="my model", max_tokens=5))).text == "You said: Hi"
        assert (server.last.path, server.last.query) == (sent, query)
        assert server.last.headers["api-key"] == KEY
        assert "authorization" not in server.last.headers
        assert server.last.json["max_completion_tokens"] == 5
        assert await provider.models()


async def test_a_deployment_name_cannot_leave_its_place_in_the_path():
    async with serve_and_connect("azure_openai", path="") as (server, provider):
        await provider.chat(user("Hi", model="../../x?y=#"))
        assert server.last.path.startswith("/openai/deployments/../../x?y=#/chat")
        assert server.last.query == {"api-version": ["2024-10-21"]}


async def test_a_server_without_keys_gets_none():
    async with provider_server() as server, Egress(LOOPBACK) as egress:
        access = ProviderAccess(provider="ollama", api_key=Secret(""), base_url=server.url)
        with pytest.raises(ModelError, match="Incorrect API key"):
            await provider_for(egress, access, ManualClock()).models()
        assert "authorization" not in server.last.headers
