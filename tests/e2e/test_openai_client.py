"""OpenAI's own Python client against the real server, with an agent as its model; and our widget."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import openai
import pydantic
import pytest

from tests.adapters.llm_server import KEY, ProviderServer, provider_server, refusing
from tests.e2e.conftest import Serving
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD, ServerProcess
from tests.vitest import run_vitest

pytestmark = [pytest.mark.either_database, pytest.mark.slow]

T = TypeVar("T")


@dataclass
class Shop:
    """A server with one agent, its owner's token and a key that opens it."""

    server: ServerProcess
    provider: ProviderServer
    token: str
    agent: dict[str, Any]
    key: str

    def client(self, secret: str) -> openai.OpenAI:
        return openai.OpenAI(
            api_key=secret, base_url=f"http://127.0.0.1:{self.server.port}/v1", max_retries=0
        )

    async def asked(self, ask: Callable[[openai.OpenAI], T], secret: str = "") -> T:
        """Return the client's result; the call blocks, so it runs in a thread of its own."""

        def run() -> T:
            with self.client(secret or self.key) as client:
                return ask(client)

        return await asyncio.to_thread(run)


async def create_object(port: int, token: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    status, answer = await call(port, "POST", path, body=body, token=token)
    assert status == 201, answer
    return answer


@pytest.fixture
async def shop(serving: Serving) -> AsyncIterator[Shop]:
    async with serving() as server, provider_server() as provider:
        await server.start()
        port = server.port
        me = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
        status, signed_in = await call(port, "POST", "/auth/login", body=me)
        assert status == 200, signed_in
        token = signed_in["access_token"]
        base_url = f"{provider.url}/v1"
        await create_object(
            port,
            token,
            "/api/v1/api-keys",
            {"provider": "openai_compatible", "api_key": KEY, "base_url": base_url, "models": ["m"]},
        )
        model = "openai_compatible/m"
        body = {"name": "Support", "primary_model": model, "system_prompt": "You are the shop."}
        agent = await create_object(port, token, "/api/v1/agents", body)
        key = await create_object(
            port, token, "/api/v1/embed/api-keys", {"agent_id": agent["id"], "name": "Client"}
        )
        yield Shop(server, provider, token, agent, key["api_key"])


QUOTA = {"error": {"message": "No credit.", "type": "insufficient_quota", "code": "insufficient_quota"}}


async def test_a_patient_client_asks_once_for_what_will_not_change(shop: Shop) -> None:
    for _ in range(9):
        shop.provider.fails(refusing(429, QUOTA))
    with pytest.raises(openai.InternalServerError) as refused:
        await shop.asked(lambda client: say("Hello")(client.with_options(max_retries=2)))
    assert refused.value.type == "server_error"
    assert refused.value.response.headers["x-should-retry"] == "false"
    assert len(shop.provider.requests) == 1


async def test_the_client_shows_why_a_request_was_refused(shop: Shop) -> None:
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        await shop.asked(say("Hello", temperature=7))
    assert (refused.value.param, refused.value.code) == ("temperature", "validation_error")
    assert refused.value.type == "invalid_request_error"
    assert refused.value.body["message"].startswith("temperature: must be ")


def say(*contents: str, **more: Any) -> Callable[[openai.OpenAI], Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(contents)]
    chosen = {"model": "Support", "messages": messages, **more}
    return lambda client: client.chat.completions.create(**chosen)


async def test_the_client_does_what_it_does_with_any_model(shop: Shop) -> None:
    """One server for them all: its start costs more than any of them."""
    await _completes(shop)
    await _streams(shop)
    await _parses(shop)
    await _lists(shop)
    await _understands_refusals(shop)
    await _understands_a_stream_that_breaks(shop)
    await _the_widget_talks_too(shop)


async def _completes(shop: Shop) -> None:
    for secret, model in ((shop.key, "Support"), (shop.token, shop.agent["id"])):
        shop.provider.says("Hello from the shop.")
        made = await shop.asked(say("Hi", "Hello!", "Who are you?", model=model, temperature=0.5), secret)
        assert made.object == "chat.completion"
        assert made.model == model
        assert made.choices[0].finish_reason == "stop"
        assert made.choices[0].message.role == "assistant"
        assert made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens > 0
    assert made.choices[0].message.content == "Hello from the shop."
    told = [(one["role"], one["content"]) for one in shop.provider.last.json["messages"]]
    assert told == [
        ("system", "You are the shop."),
        ("user", "Hi"),
        ("assistant", "Hello!"),
        ("user", "Who are you?"),
    ]
    assert shop.provider.last.json["temperature"] == 0.5


async def _streams(shop: Shop) -> None:
    shop.provider.says("One two three")
    ask = say("Count", stream=True, stream_options={"include_usage": True})
    chunks = await shop.asked(lambda client: list(ask(client)))
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk.id for chunk in chunks}) == 1
    *spoken, last = chunks
    assert spoken[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in spoken) == "One two three"
    assert spoken[-1].choices[0].finish_reason == "stop"
    assert (last.choices, last.usage.total_tokens > 0) == ([], True)
    shop.provider.says("One two three")
    plain = await shop.asked(lambda client: list(say("Count", stream=True)(client)))
    assert {chunk.usage for chunk in plain} == {None}
    assert plain[-1].choices[0].finish_reason == "stop"


class Place(pydantic.BaseModel):
    city: str
    people: Annotated[int, pydantic.Field(ge=1)]


async def _parses(shop: Shop) -> None:
    """The client makes a value of its own type of the answer, here of one that had to be repaired."""
    chosen: dict[str, Any] = {
        "model": "Support",
        "messages": [{"role": "user", "content": "Where?"}],
        "response_format": Place,
    }
    graz = Place(city="Graz", people=300_000)
    shop.provider.says("In Graz.")
    shop.provider.says(graz.model_dump_json())
    made = await shop.asked(lambda client: client.chat.completions.parse(**chosen), shop.token)
    assert made.choices[0].message.parsed == graz

    def stream(client: openai.OpenAI) -> Any:
        with client.chat.completions.stream(**chosen) as events:
            return events.get_final_completion()

    shop.provider.says('{"city": "Graz", "people": 0}')
    shop.provider.says(graz.model_dump_json())
    assert (await shop.asked(stream, shop.token)).choices[0].message.parsed == graz
    shop.provider.says('{"city": "Gr', finish="length")
    with pytest.raises(openai.InternalServerError, match="cut off"):
        await shop.asked(lambda client: client.chat.completions.parse(**chosen), shop.token)


async def _lists(shop: Shop) -> None:
    for secret in (shop.key, shop.token):
        models = await shop.asked(lambda client: list(client.models.list()), secret)
        assert [(model.id, model.object) for model in models] == [(shop.agent["id"], "model")]


async def _understands_refusals(shop: Shop) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    for ask, secret, kind, code in (
        (say("Hi"), "emb_nobody", openai.AuthenticationError, "unauthorized"),
        (say("Hi"), "sk-x", openai.AuthenticationError, "unauthorized"),
        (say("Hi", model="nobody"), "", openai.NotFoundError, "agent_not_found"),
        (say("Hi", model="nobody", stream=True), "", openai.NotFoundError, "agent_not_found"),
        (say("Hi", tools=[tool]), "", openai.UnprocessableEntityError, "validation_error"),
        (say("Hi", "Hello"), "", openai.UnprocessableEntityError, "validation_error"),
    ):
        with pytest.raises(kind) as refused:
            await shop.asked(ask, secret)
        assert refused.value.code == code
        assert refused.value.body["message"] in str(refused.value)


async def _understands_a_stream_that_breaks(shop: Shop) -> None:
    """A failure after the first word reaches the client as an error, not as an end."""

    async def break_off(_reader: Any, writer: Any) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        chunk = b'data: {"choices":[{"index":0,"delta":{"content":"One "}}]}\n\n'
        writer.write(head + b"%x\r\n%b\r\n" % (len(chunk), chunk))
        await writer.drain()
        writer.close()

    shop.provider.fails(break_off)
    heard: list[str] = []

    def listen(client: openai.OpenAI) -> None:
        for chunk in say("Count", stream=True)(client):
            heard.extend(choice.delta.content or "" for choice in chunk.choices)

    with pytest.raises(openai.APIError) as broken:
        await shop.asked(listen)
    assert "".join(heard) == "One "
    assert broken.value.code == "model_error"


async def _the_widget_talks_too(shop: Shop) -> None:
    """The test in TypeScript says what it hears and why it is refused."""
    shop.provider.says("One two three")
    address = {
        "baseUrl": f"http://127.0.0.1:{shop.server.port}",
        "agentId": shop.agent["id"],
        "apiKey": shop.key,
        "user": None,
    }
    test = "packages/widget/served_chat.test.ts"
    await asyncio.to_thread(run_vitest, test, SERVED_CHAT=json.dumps(address))
